import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { createConfigFolder, upstream } from '../../../tests/support/config.ts'
import type { Environment } from './config.ts'
import { OperatorError } from '../problems.ts'

const { load } = createConfigFolder()

/** Asserts that the input gives a configuration or an OperatorError with a message. */
function survives(yaml: string, environment: Environment = {}): void {
  try {
    load(yaml, environment)
  } catch (error) {
    assert.ok(error instanceof OperatorError, `not an OperatorError: ${String(error)}`)
    assert.match(error.message, /^.+$/m)
  }
}

const places = ['id', 'engine', 'endpoints', 'upstream_model', 'context', 'max_output_tokens', 'timeout', 'price']
const groups = ['models', 'aliases', 'listen', 'sign_in', 'providers', 'sign_up', 'domains', 'session', 'limits']
const odd = ['local', 'openai', 'ai-sdk', '30s', '1MiB', '0.1', '${X}', '${', '__proto__', 'constructor', 'https://x']

test('any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (yaml) => survives(yaml)),
    draws({ test: 50, endure: 1000 }),
  )
  const marks = fc.string({ unit: fc.constantFrom(...'ab:- \n[]{}"\'&*!#%|>?$,0'.split('')), maxLength: 40 })
  fc.assert(
    fc.property(marks, (yaml) => survives(yaml)),
    draws({ test: 50, endure: 1000 }),
  )
})

test('any values of settings', () => {
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 5, withCrossShrink: true },
      fc.constantFrom(...odd),
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...places, ...groups, ...odd), tie('value'), { maxKeys: 4 }),
    ),
  }))
  const tree = fc.dictionary(fc.constantFrom(...groups), value)
  fc.assert(
    fc.property(tree, (settings) => survives(JSON.stringify(settings), { X: '1' })),
    draws({ test: 100, endure: 1000 }),
  )
})

test('any change to one value of a valid file', () => {
  const values = fc.oneof(fc.jsonValue(), fc.constantFrom('', '0', '-1', '${A}', '1e999', '٣'))
  fc.assert(
    fc.property(fc.constantFrom(...places), values, (place, changed) => {
      survives(upstream({ [place]: changed }), { A: upstream() })
    }),
    draws({ test: 50, endure: 1000 }),
  )
})

test('any environment', () => {
  const names = fc.constantFrom('PORT', 'HOST', 'TOLLGATE_DATA', 'DATABASE_URL', 'TOLLGATE_DEMO', 'TOLLGATE_CONFIG')
  const environment = fc.dictionary(names, fc.string({ unit: 'binary' }))
  fc.assert(
    fc.property(environment, (variables) => survives('', variables)),
    draws({ test: 50, endure: 1000 }),
  )
})
