import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import type { ModelConfig } from '../platform/config/config.ts'
import { Problem } from '../platform/problems.ts'
import { createCatalogue } from './catalogue.ts'
import type { Model } from './model.ts'

const entry = (id: string, changes: object = {}): ModelConfig => ({
  id,
  engine: 'local',
  file: 'none',
  context: 100,
  max_output_tokens: 50,
  parallel: 1,
  ...changes,
})

const closed: string[] = []
const build = ({ id }: ModelConfig): Model => ({
  id,
  contextTokens: 100,
  capabilities: new Set(),
  cheapPrompt: 1000,
  maxOutputTokens: 50,
  count: async () => ({ tokens: 1, exact: true }),
  run: () => assert.fail('nobody runs it'),
  async *stream() {},
  health: () => ({ ready: true }),
  close: async () => void closed.push(id),
})

const needs = {
  aliases: { quick: 'a' },
  prices: { of: (id: string) => (id === 'c' ? undefined : { input: 1n, output: 2n }) },
  log: pino({ level: 'silent' }),
}

test('an offer names the fallback', async () => {
  const models = [entry('a', { fallback: 'b' }), entry('b', { fallback: 'a' }), entry('c')]
  const catalogue = await createCatalogue({ ...needs, models, build })
  assert.deepEqual(
    catalogue.list().map(({ model, fallback }) => [model.id, fallback]),
    [
      ['a', 'b'],
      ['b', 'a'],
    ],
  )
  assert.equal(catalogue.find('quick').fallback, 'b')
  assert.throws(
    () => catalogue.find('c'),
    (error) => error instanceof Problem && error.code === 'unknown_model',
  )
  await catalogue.close()
  assert.deepEqual(closed.splice(0), ['a', 'b', 'c'])
})

test('a text model is not offered at a price without output', async () => {
  const catalogue = await createCatalogue({
    ...needs,
    models: [entry('a'), entry('b')],
    prices: { of: () => ({ input: 1n, output: 0n }) },
    build: (it) => (it.id === 'b' ? { ...build(it), embed: () => assert.fail('nobody runs it') } : build(it)),
  })
  assert.deepEqual(
    catalogue.list().map(({ model }) => model.id),
    ['b'],
  )
  await catalogue.close()
  closed.splice(0)
})

test('if a model cannot be built, the models before it are closed', async () => {
  const made = createCatalogue({
    ...needs,
    models: [entry('a'), entry('b')],
    build: (it) => (it.id === 'b' ? Promise.reject(new Error('broken')) : build(it)),
  })
  await assert.rejects(made, /broken/)
  assert.deepEqual(closed.splice(0), ['a'])
})
