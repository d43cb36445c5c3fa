import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { getLlama, type Llama } from 'node-llama-cpp'
import { Compile } from 'typebox/compile'
import { createTestEngine, promptOf } from '../../../tests/support/engine.ts'
import { objectCase } from '../../../tests/support/schemas.ts'
import { Problem } from '../../platform/problems.ts'
import type { ReplyFormat } from '../conversation.ts'
import { grammarOf } from './grammar.ts'

const field = 'response_format.json_schema.schema'
const formatOf = (schema: object): ReplyFormat => ({ kind: 'schema', name: 'reply', schema, field })

let llama: Llama
before(async () => {
  llama = await getLlama({ gpu: false, build: 'never', skipDownload: true })
})
after(() => llama.dispose())

/** The function that tells whether llama.cpp accepts a text as a whole. node-llama-cpp does not declare its method. */
async function acceptorOf(format: ReplyFormat): Promise<(text: string) => boolean> {
  const grammar = await llama.createGrammar({ grammar: grammarOf(format) })
  const accepts: unknown = Reflect.get(grammar, '_testText')
  assert.ok(typeof accepts === 'function')
  return (text) => Reflect.apply(accepts, grammar, [text]) === true
}

async function check(schema: object, accepted: readonly string[], refused: readonly string[]): Promise<void> {
  const accepts = await acceptorOf(formatOf(schema))
  for (const text of accepted) assert.ok(accepts(text), `${text} is refused`)
  for (const text of refused) assert.ok(!accepts(text), `${text} is accepted`)
}

const shape = (kind: string) => ({ type: 'object', properties: { kind: { const: kind } }, required: ['kind'] })

describe('the grammar of a schema', () => {
  test('allows the properties that a schema has, in its order, and only those', () =>
    check(
      {
        type: 'object',
        properties: {
          a: { type: 'string' },
          b: { type: 'integer', minimum: 1, maximum: 5 },
          c: { type: ['number', 'null'] },
        },
        required: ['b'],
      },
      ['{"b":3}', String.raw`{"a":"hé\u00e9\n","b":5, "c": null}`, '{"b":1,"c":-1.5e3}'],
      [
        '{}',
        '{"a":"x"}',
        '{"b":6}',
        '{"b":0}',
        '{"b":3,}',
        '{"b":3,"a":"x"}',
        '{"b":3,"z":1}',
        '{"b":3} ',
        '{ "b":3}',
        '{"b":03}',
      ],
    ))

  test('allows no half of a character, no control character and no number without an end', () =>
    check(
      { type: 'object', properties: { a: { type: 'string' }, n: { type: 'number' } }, required: ['a', 'n'] },
      [String.raw`{"a":"\ue000 \"","n":0}`],
      [String.raw`{"a":"\ud83d","n":0}`, '{"a":"\n","n":0}', `{"a":"","n":1${'0'.repeat(20)}}`, '{"a":"","n":1e999}'],
    ))

  test('counts items and characters', async () => {
    await check(
      { type: 'array', items: { type: 'boolean' }, minItems: 1, maxItems: 2 },
      ['[true]', '[true, false]'],
      ['[]', '[true,true,true]'],
    )
    await check({ type: 'array', minItems: 2 }, ['[1,2,3]'], ['[1]'])
    await check({ type: 'array', maxItems: 0 }, ['[]'], ['[1]'])
    await check({ type: 'string', minLength: 2, maxLength: 3 }, ['"éé"', '"日本語"'], ['"a"', '"abcd"'])
  })

  test('allows any value where a schema asks for none, and free names where it allows them', async () => {
    await check({}, ['1', '{"a":[null]}'], [''])
    await check({ type: 'object', additionalProperties: { type: 'integer' } }, ['{}', '{"x":1, "y":2}'], ['{"x":"1"}'])
    await check({ type: 'object', required: ['x'] }, ['{"x":[1]}'], ['{}'])
    await check({ type: 'object', properties: {}, additionalProperties: false }, ['{}'], ['{"x":1}'])
  })

  test('of any JSON object allows nothing else', async () => {
    const accepts = await acceptorOf({ kind: 'json' })
    assert.deepEqual(['{}', '{"a": [1, {"b":null}]}', '[]', '1', '{"a":}'].map(accepts), [
      true,
      true,
      false,
      false,
      false,
    ])
  })

  test('names what it cannot enforce', () => {
    const cases: readonly (readonly [schema: object, place: string])[] = [
      [{ type: 'string', pattern: '^a' }, '.pattern'],
      [{ type: 'number', minimum: 1 }, '.minimum'],
      [{ type: 'number', multipleOf: 2 }, '.multipleOf'],
      [{ type: 'integer', minimum: 7 }, ''],
      [{ type: 'integer', minimum: 0.5 }, '.minimum'],
      [{ type: 'array', uniqueItems: true }, '.uniqueItems'],
      [{ type: 'array', prefixItems: [] }, '.prefixItems'],
      [{ type: 'array', maxItems: 300 }, '.maxItems'],
      [{ type: 'object', properties: { a: { not: {} } } }, '.properties.a.type'],
      [{ type: 'object', patternProperties: {} }, '.patternProperties'],
      [{ type: 'object', minProperties: 1 }, '.minProperties'],
      [{ anyOf: [{ type: 'string' }], properties: {} }, '.properties'],
      [{ type: 'object', anyOf: [{ type: 'string' }] }, '.type'],
      [{ allOf: [{ type: 'string' }, { type: 'string' }] }, '.allOf'],
      [{ oneOf: [{ type: 'string' }, { type: 'string', maxLength: 2 }] }, '.oneOf'],
      [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, '.oneOf'],
      [{ enum: [] }, '.enum'],
      [{ type: 'string', enum: ['a', 1] }, '.enum'],
      [{ type: 'date' }, '.type'],
      [{ $ref: '#/$defs/none' }, '.$ref'],
      [{ enum: ['x'.repeat(200_000)] }, ''],
    ]
    for (const [schema, place] of cases) {
      const isNamed = (error: unknown) =>
        error instanceof Problem && error.code === 'invalid_field' && error.details.field === `${field}${place}`
      assert.throws(() => grammarOf(formatOf(schema)), isNamed, JSON.stringify(schema).slice(0, 80))
    }
  })

  test('tells the schemas of oneOf apart by type or by a constant', async () => {
    await check({ oneOf: [shape('a'), shape('b'), { type: 'null' }] }, ['{"kind":"b"}', 'null'], ['{"kind":"c"}'])
  })

  test('allows every value of generated schemas that the schema allows', async () => {
    await fc.assert(
      fc.asyncProperty(objectCase, async ({ schema, value }) => {
        assert.ok(Compile(schema).Check(value), 'the generated value')
        await check(schema, [JSON.stringify(value)], [JSON.stringify([value]), `${JSON.stringify(value)}x`])
      }),
      { numRuns: 300 },
    )
  })
})

test('every complete reply of a local model follows its schema, whatever the schema', async (t) => {
  const numRuns = Number(process.env['SCHEMA_RUNS'] ?? 40)
  const engine = createTestEngine()
  await engine.ready()
  const counts = { complete: 0, max_output_tokens: 0 }
  try {
    const property = fc.asyncProperty(objectCase, fc.nat(2 ** 32 - 2), async ({ schema }, seed) => {
      const prompt = { ...promptOf('Write a record of a meeting with Anna Berg.'), format: formatOf(schema) }
      const limits = { maxOutputTokens: 200, temperature: 1, seed }
      const { text, stopReason } = await engine.run(prompt, limits, new AbortController().signal)
      assert.ok(stopReason === 'complete' || stopReason === 'max_output_tokens', stopReason)
      counts[stopReason] += 1
      if (stopReason === 'complete') assert.ok(Compile(schema).Check(JSON.parse(text)), text)
    })
    await fc.assert(property, { numRuns })
    t.diagnostic(JSON.stringify(counts))
    assert.ok(counts.complete > counts.max_output_tokens, JSON.stringify(counts))
  } finally {
    await engine.close()
  }
})

test('a local model refuses a schema that it cannot enforce before it generates, and still counts without one', async () => {
  const engine = createTestEngine()
  await engine.ready()
  try {
    const prompt = promptOf('Hello')
    const format = formatOf({ type: 'string', pattern: 'a' })
    await assert.rejects(engine.count({ ...prompt, format }), /response_format.json_schema.schema.pattern/)
    const json = await engine.count({ ...prompt, format: { kind: 'json' } })
    assert.deepEqual(json, await engine.count(prompt), 'the format is no part of the prompt')
  } finally {
    await engine.close()
  }
})
