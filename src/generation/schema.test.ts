import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { processorTime } from '../../tests/support/processor-time.ts'
import { Problem } from '../platform/problems.ts'
import { compileBody } from '../platform/http/input/validation.ts'
import { generateRequest, synonyms } from './schema.ts'

const checkGenerateRequest = compileBody(generateRequest, synonyms)

const valid = { model: 'tiny', input: 'Hello', max_output_tokens: 16 }

function faultOf(body: unknown): { code: string; field: string | undefined; reason: string } {
  try {
    checkGenerateRequest(body)
  } catch (error) {
    if (error instanceof Problem) return { code: error.code, field: error.details.field, reason: error.message }
    throw error
  }
  return { code: 'none', field: undefined, reason: '' }
}

describe('a generation request', () => {
  it('passes with its three required fields, and with all of them', () => {
    assert.equal(checkGenerateRequest(valid), valid)
    const all = {
      ...valid,
      instructions: '',
      stream: false,
      temperature: 2,
      top_p: 1,
      seed: 4_294_967_295,
      stop: ['\n', 'END', 'a', 'b'],
      metadata: { client_id: '01997e4c-6a61-7b5e-8d8c-1f0a4b8f7c11', team: '' },
    }
    assert.equal(checkGenerateRequest(all), all)
    assert.ok(checkGenerateRequest({ ...valid, input: 'Grüße 👋🏽' }))
  })

  for (const body of [null, undefined, [], 'text', 5, true]) {
    it(`A2 ${JSON.stringify(body)} is malformed_json`, () => assert.equal(faultOf(body).code, 'malformed_json'))
  }

  for (const field of ['model', 'input', 'max_output_tokens']) {
    it(`A2 without ${field} is missing_field`, () => {
      const { [field]: _, ...rest } = { ...valid } as Record<string, unknown>
      const fault = faultOf(rest)
      assert.deepEqual([fault.code, fault.field], ['missing_field', field])
      assert.match(fault.reason, new RegExp(`The field ${field} is missing; it must be `))
    })
  }

  const wrong: readonly (readonly [string, string, unknown, RegExp])[] = [
    ['model', 'model', 5, /must be a string.* but is a number/],
    ['model', 'model', null, /is null/],
    ['model', 'model', ' ', /is blank/],
    ['model', 'model', 'm'.repeat(257), /at most 256 characters.* has 257/],
    ['input', 'input', ['a'], /is a list/],
    ['input', 'input', '', /that is not blank, but is empty/],
    ['input', 'input', ' \n\t\u00a0\u3000', /is blank/],
    ['input', 'input', 'a\0b', /NUL/],
    ['input', 'input', 'a\ud800b', /surrogate/],
    ['input', 'input', '\udc00', /surrogate/],
    ['instructions', 'instructions', {}, /is an object/],
    ['instructions', 'instructions', '\0', /NUL/],
    ['max_output_tokens', 'max_output_tokens', 0, /an integer of at least 1, but is 0/],
    ['max_output_tokens', 'max_output_tokens', -5, /is -5/],
    ['max_output_tokens', 'max_output_tokens', 1.5, /an integer.* but is 1.5/],
    ['max_output_tokens', 'max_output_tokens', '5', /is a string/],
    ['max_output_tokens', 'max_output_tokens', true, /is true or false/],
    ['max_output_tokens', 'max_output_tokens', Infinity, /integer/],
    ['stream', 'stream', 'true', /true or false, but is a string/],
    ['temperature', 'temperature', 2.1, /from 0 to 2, but is 2.1/],
    ['temperature', 'temperature', -0.1, /from 0 to 2/],
    ['top_p', 'top_p', 0, /above 0, at most 1, but is 0/],
    ['top_p', 'top_p', 1.1, /at most 1/],
    ['seed', 'seed', 0.5, /an integer from 0 to 4294967295/],
    ['seed', 'seed', -1, /an integer from 0/],
    ['stop', 'stop', 'END', /a list of at most 4/],
    ['stop', 'stop', ['a', 'b', 'c', 'd', 'e'], /at most 4, but has 5/],
    ['stop', 'stop[1]', ['a', ''], /non-empty/],
    ['stop', 'stop[0]', [7], /is a number/],
    ['metadata', 'metadata', 'x', /an object/],
    ['metadata', 'metadata.team', { team: 5 }, /a string of at most 512/],
    ['metadata', 'metadata.team', { team: 'x'.repeat(513) }, /has 513/],
    ['metadata', 'metadata.client_id', { client_id: 'x' }, /a UUID/],
    ['metadata', 'metadata', { ['n'.repeat(65)]: 'x' }, /name/],
    ['metadata', 'metadata', Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`n${i}`, ''])), /at most 16/],
  ]
  for (const [name, field, value, reason] of wrong) {
    it(`A2 ${name} = ${JSON.stringify(value)?.slice(0, 40)} is invalid_field ${field}`, () => {
      const fault = faultOf({ ...valid, [name]: value })
      assert.deepEqual([fault.code, fault.field], ['invalid_field', field])
      assert.match(fault.reason, reason)
    })
  }

  const strangers: readonly (readonly [string, RegExp])[] = [
    ['temprature', /Did you mean temperature\?/],
    ['Stream', /Did you mean stream\?/],
    ['messages', /Leave it out/],
    ['__proto__', /Leave it out/],
    ['constructor', /Leave it out/],
  ]
  for (const [name, reason] of strangers) {
    it(`A2 a field ${name} is unknown_field`, () => {
      const fault = faultOf(JSON.parse(`{"model":"tiny","input":"x","max_output_tokens":1,"${name}":1}`))
      assert.deepEqual([fault.code, fault.field], ['unknown_field', name])
      assert.match(fault.reason, reason)
    })
  }

  it('A2 a mistyped required field is named as such, not as missing', () => {
    for (const [name, meant] of [
      ['imput', 'input'],
      ['max_tokens', 'max_output_tokens'],
      ['maxTokens', 'max_output_tokens'],
      ['maxOutputTokens', 'max_output_tokens'],
      ['max_completion_tokens', 'max_output_tokens'],
      ['prompt', 'input'],
      ['Messages', 'input'],
      ['modelName', 'model'],
    ] as const) {
      const { [meant]: value, ...rest } = valid
      const fault = faultOf({ ...rest, [name]: value })
      assert.deepEqual([fault.code, fault.field], ['unknown_field', name])
      assert.match(fault.reason, new RegExp(`Did you mean ${meant}\\?`))
    }
  })

  it('A2 a field by the name that another API gives it is named as such, even if another one is missing', () => {
    const fault = faultOf({ prompt: 'Hello', system: 'Answer.' })
    assert.deepEqual([fault.code, fault.field], ['unknown_field', 'prompt'])
    assert.match(fault.reason, /Did you mean input\?/)
    const optional = faultOf({ ...valid, system: 'Answer.' })
    assert.match(optional.reason, /Did you mean instructions\?/)
    const present = faultOf({ ...valid, prompt: 'Hello' })
    assert.match(present.reason, /There is no field prompt\. Leave it out\./)
  })

  it('A9 is refused without quoting the text of a caller', () => {
    const secret = 'the-secret'
    for (const body of [
      { ...valid, max_output_tokens: secret },
      { ...valid, metadata: { client_id: secret } },
      { ...valid, metadata: secret },
      { ...valid, input: `${secret}\0` },
      { ...valid, stop: [`${secret}\0`] },
    ]) {
      assert.doesNotMatch(faultOf(body).reason, /secret/)
    }
  })

  it('a field name cannot bring markup or half a megabyte into the response', () => {
    const fault = faultOf({ ...valid, [`<script>${'x'.repeat(500_000)}`]: 1 })
    assert.equal(fault.code, 'unknown_field')
    assert.doesNotMatch(fault.reason, /[<>]/)
    assert.ok(fault.reason.length < 200)
  })

  it('a very long name is compared with none of ours', () => {
    assert.match(faultOf({ ...valid, [`${'top_'.repeat(16)}p`]: 1 }).reason, /Leave it out/)
    const missing = faultOf({ model: 'tiny', input: 'Hello', [`${'max_'.repeat(15)}tokens`]: 1 })
    assert.deepEqual([missing.code, missing.field], ['missing_field', 'max_output_tokens'])
    const typo = faultOf({ model: 'tiny', input: 'Hello', [`${'max_'.repeat(14)}tokens`]: 1 })
    assert.match(typo.reason, /Did you mean max_output_tokens/)
  })

  const floods: readonly (readonly [string, object])[] = [
    ['unknown fields', Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`imput${i}`, 1]))],
    ['metadata', { metadata: Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`name${i}`, 'x'])) }],
    ['stops', { stop: Array.from({ length: 200_000 }, () => 'x') }],
  ]
  for (const [name, flood] of floods) {
    it(`a megabyte of ${name} is refused without blocking other requests`, () => {
      const body = { ...valid, ...flood }
      faultOf(body)
      const refusing = best(() => assert.notEqual(faultOf(body).code, 'none'))
      const text = JSON.stringify(body)
      const parsing = best(() => JSON.parse(text))
      assert.ok(refusing < 30 * parsing, `${(refusing / parsing).toFixed(1)} × the parsing of the body`)
    })
  }

  it('costs less to check than to parse if it is valid', () => {
    const body = { ...valid, instructions: 'Summarise.', input: 'word '.repeat(400) }
    const text = JSON.stringify(body)
    const checking = best(() => checkGenerateRequest(body), 2000)
    const parsing = best(() => JSON.parse(text), 2000)
    assert.ok(checking < 3 * parsing, `${(checking / parsing).toFixed(2)} × the parsing of the body`)
  })
})

/** The shortest of a few runs in ms, so that other load does not count. */
function best(work: () => unknown, times = 1): number {
  const round = () => {
    for (let i = 0; i < times; i++) work()
  }
  return Math.min(...Array.from({ length: 7 }, () => processorTime(round)))
}
