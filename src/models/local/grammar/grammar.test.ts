import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { getLlama } from 'node-llama-cpp'
import { Compile } from 'typebox/compile'
import { draws } from '../../../../tests/support/draws.ts'
import { createTestEngine, promptOf } from '../../../../tests/support/engine.ts'
import { fixture, setUp } from '../../../../tests/support/fixture.ts'
import { objectCase, type SchemaCase } from '../../../../tests/support/schemas.ts'
import { Problem } from '../../../platform/problems.ts'
import type { Prompt, ReplyFormat, Tool } from '../../conversation.ts'
import type { RunLimits, WholeReply } from '../../model.ts'
import { grammarOf, grammarOfCall } from './grammar.ts'

const field = 'response_format.json_schema.schema'
const formatOf = (schema: object): ReplyFormat => ({ kind: 'schema', name: 'reply', schema, field })

const llama = fixture(() => getLlama({ gpu: false, build: 'never', skipDownload: true }))
after(() => llama.dispose())

/** The function that tells whether llama.cpp accepts a text as a whole. node-llama-cpp does not declare its method. */
async function acceptorOf(rules: string): Promise<(text: string) => boolean> {
  const grammar = await llama.createGrammar({ grammar: rules })
  const accepts: unknown = Reflect.get(grammar, '_testText')
  assert.ok(typeof accepts === 'function')
  return (text) => Reflect.apply(accepts, grammar, [text]) === true
}

async function check(schema: object, accepted: readonly string[], refused: readonly string[]): Promise<void> {
  await checkTexts(grammarOf(formatOf(schema)), accepted, refused)
}

async function checkTexts(grammar: string, accepted: readonly string[], refused: readonly string[]): Promise<void> {
  const accepts = await acceptorOf(grammar)
  for (const text of accepted) assert.ok(accepts(text), `${text} is refused`)
  for (const text of refused) assert.ok(!accepts(text), `${text} is accepted`)
}

const shape = (kind: string) => ({ type: 'object', properties: { kind: { const: kind } }, required: ['kind'] })

/** A schema whose texts can be read in 2^levels ways until their end. */
function ambiguous(levels: number): object {
  const $defs: Record<string, object> = { [`l${levels}`]: { type: 'null' } }
  for (let level = 0; level < levels; level += 1) {
    $defs[`l${level}`] = { anyOf: ['b', 'c'].map((other) => branch(`l${level + 1}`, other)) }
  }
  return { $ref: '#/$defs/l0', $defs }
}

function branch(target: string, other: string): object {
  const properties = { a: { $ref: `#/$defs/${target}` }, [other]: { type: 'null' } }
  return { type: 'object', properties, required: ['a'] }
}

// Small schemas whose rules repeat, so that not their grammar but the work on them is bounded.
const longName = { type: 'object', properties: { ['p'.repeat(900)]: {} }, additionalProperties: {} }
const variant = (index: number): object => {
  const names = Array.from({ length: 20 }, (_, at) => `k${at}`)
  const same = names.map((name) => [name, { $ref: `#/$defs/${index % 2 === 0 ? 'even' : 'odd'}` }] as const)
  const properties = { ...Object.fromEntries<object>(same), last: { const: index } }
  return { type: 'object', properties, required: [...names, 'last'] }
}
const from = (first: number) => ({ enum: [...Array.from({ length: 62 }, (_, at) => first + at), 0] })
const variants = Array.from({ length: 60 }, (_, index) => [`v${index}`, variant(index)] as const)
const manyDefs = { even: from(100), odd: from(200), ...Object.fromEntries<object>(variants) }
const similar = variants.map(([name]) => ({ $ref: `#/$defs/${name}` }))

const letters = (length: number): string => `"${'x'.repeat(length)}"`
const zeros = (length: number): string => `[${Array.from({ length }, () => 0).join(',')}]`

describe('the grammar of a schema', () => {
  test('allows the properties that a schema has, in its order, and only those', () =>
    check(
      {
        type: 'object',
        properties: {
          a: { type: 'string' },
          b: { type: 'integer', minimum: 1, maximum: 5 },
          c: { type: ['number', 'null'] },
          d: { type: 'boolean' },
        },
        required: ['b', 'd'],
      },
      ['{"b":3,"d":true}', String.raw`{"a":"hé\u00e9\n","b":5, "c": null,"d":false}`, '{"b":1,"c":-1.5e3,"d":true}'],
      [
        '{}',
        '{"b":3}',
        '{"a":"x"}',
        '{"a":"x","c":1,"d":true}',
        '{"b":6,"d":true}',
        '{"b":0,"d":true}',
        '{"b":3,"d":true,}',
        '{"b":3,"d":true,"a":"x"}',
        '{"b":3,"d":true,"z":1}',
        '{"b":3,"b":3,"d":true}',
        '{"b":3,"d":true} ',
        '{ "b":3,"d":true}',
        '{"b":3,  "d":true}',
        '{"b":03,"d":true}',
      ],
    ))

  test('allows other properties after those that the schema names, never a second one of their name', async () => {
    const schema = {
      type: 'object',
      properties: { ab: { type: 'integer' }, ü: {} },
      additionalProperties: { type: 'null' },
    }
    await check(
      schema,
      ['{}', '{"ab":1}', '{"ab":1,"a":null, "abc":null,"":null}', '{"z":null,"üü":null}'],
      [
        '{"ab":null}',
        '{"ab":1,"ab":null}',
        String.raw`{"\u0061b":null}`,
        '{"z":null,"ü":null}',
        '{"a":1}',
        '{"a":null,}',
      ],
    )
    await check(
      { ...schema, required: ['x'] },
      ['{"x":null}', '{"ab":1,"x":null,"y":null}'],
      ['{}', '{"x":null,"x":null}'],
    )
    await check({ ...schema, additionalProperties: false }, ['{"ab":1}'], ['{"a":null}'])
    await check({ type: 'object', properties: {}, additionalProperties: false }, ['{}'], ['{"x":1}'])
    await check({ type: 'object', properties: {} }, ['{}'], ['{"x":1}'])
    await check({ type: 'object' }, ['{}', '{"x":1}'], ['[]'])
    await check({ type: 'object', additionalProperties: { type: 'integer' } }, ['{}', '{"x":1, "y":2}'], ['{"x":"1"}'])
    await check({ type: 'object', required: ['x'] }, ['{"x":[1]}'], ['{}'])
    await check({ properties: { a: {} }, required: ['a'] }, ['{"a":{"b":[null]}}'], ['{}', '1'])
  })

  test('allows no half of a character, no control character and no number without an end', () =>
    check(
      { type: 'object', properties: { a: { type: 'string' }, n: { type: 'number' } }, required: ['a', 'n'] },
      [String.raw`{"a":"\ue000 \"","n":0}`, '{"a":"😀","n":-0.25}'],
      [
        String.raw`{"a":"\ud83d","n":0}`,
        '{"a":"\n","n":0}',
        `{"a":"","n":1${'0'.repeat(20)}}`,
        `{"a":"","n":0.${'1'.repeat(20)}}`,
        '{"a":"","n":1e999}',
      ],
    ))

  test('lists the characters of a string, because bytes that are no character would pass an exclusion', () => {
    const grammar = grammarOf({ kind: 'json' })
    assert.ok(grammar.includes(String.raw`\U0000d7ff\U0000e000-\U0010ffff]`))
    assert.ok(!grammar.includes('[^'))
  })

  test('counts characters and items, however many', async () => {
    await check(
      { type: 'string', minLength: 2, maxLength: 3 },
      ['"éé"', '"日本語"', String.raw`"\n\u0020"`],
      ['"a"', '"abcd"'],
    )
    await check(
      { type: 'array', items: { type: 'boolean' }, minItems: 1, maxItems: 2 },
      ['[true]', '[true, false]'],
      ['[]', '[true,true,true]'],
    )
    await check({ type: 'array', minItems: 2 }, ['[1,2,3]'], ['[1]'])
    await check({ type: 'array', maxItems: 0 }, ['[]'], ['[1]'])
    for (const [least, most] of [
      [0, 64],
      [3, 67],
      [0, 65],
      [63, 200],
      [0, 4096],
      [100, 5000],
      [129, 129],
    ] as const) {
      const allowed = [least, least + 1, Math.floor((least + most) / 2), most - 1, most].filter(
        (length) => length >= least && length <= most,
      )
      await check(
        { type: 'string', minLength: least, maxLength: most },
        allowed.map(letters),
        [least - 1, most + 1].filter((length) => length >= 0).map(letters),
      )
      await check(
        { type: 'array', items: { const: 0 }, minItems: least, maxItems: most },
        allowed.map(zeros),
        [least - 1, most + 1].filter((length) => length >= 0).map(zeros),
      )
    }
  })

  test('allows all first items of a list, and others where the schema asks for them', async () => {
    const prefixItems = [{ type: 'string' }, { type: 'integer' }]
    await check({ type: 'array', prefixItems }, ['["a",1]', '["a", 1]'], ['[]', '["a"]', '[1,"a"]', '["a",1,2]'])
    await check(
      { type: 'array', prefixItems, items: { type: 'null' }, minItems: 3 },
      ['["a",1,null,null]'],
      ['["a",1]', '["a",1,2]'],
    )
    await check({ type: 'array', prefixItems, maxItems: 1 }, ['["a"]'], ['["a",1]'])
    await check({ type: 'array', items: false }, ['[]'], ['[1]'])
  })

  test('allows exactly the integers within bounds', async () => {
    const bound = fc.oneof(
      fc.integer({ min: -1200, max: 1200 }),
      fc.integer({ min: -(10 ** 15) + 1, max: 10 ** 15 - 1 }),
    )
    await fc.assert(
      fc.asyncProperty(bound, bound, fc.array(bound, { minLength: 20, maxLength: 20 }), async (one, other, more) => {
        const [minimum, maximum] = [Math.min(one, other), Math.max(one, other)]
        const accepts = await acceptorOf(grammarOf(formatOf({ type: 'integer', minimum, maximum })))
        const near = [minimum, maximum].flatMap((each) => [each - 11, each - 1, each, each + 1, each + 11])
        for (const value of [...near, ...more, 0, -1, 9, 10, 99, 100]) {
          if (Math.abs(value) >= 10 ** 15) continue
          assert.equal(
            accepts(String(value)),
            value >= minimum && value <= maximum,
            `${value} in ${minimum}..${maximum}`,
          )
        }
      }),
      draws({ test: 40, endure: 1000 }),
    )
    await check(
      { type: 'integer', exclusiveMinimum: 0.5, exclusiveMaximum: 3 },
      ['1', '2'],
      ['0', '3', '1.0', '01', '-1'],
    )
    await check(
      { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      ['-5'],
      ['1e2'],
    )
  })

  test('allows numbers within bounds', async () => {
    await check({ type: 'number', minimum: 0 }, ['0', '0.5', '3e2'], ['-1', '-0.1'])
    await check(
      { type: 'number', minimum: -2, maximum: 10 },
      ['-2', '-2.0', '-1.99', '0', '9.999', '10.00'],
      ['-2.01', '10.1', '11', '1e1'],
    )
    await check(
      { type: 'number', exclusiveMinimum: 0, maximum: 1 },
      ['0.001', '1', '1.0', '0.9'],
      ['0', '0.0', '1.1', '-1'],
    )
    await check({ type: 'number', minimum: 3, maximum: 3 }, ['3', '3.0'], ['3.1', '2.9'])
  })

  test('allows only dates, times and ids that exist', async () => {
    await check(
      { type: 'string', format: 'date' },
      ['"2026-01-31"', '"2024-02-29"', '"2000-02-29"', '"2026-11-30"'],
      ['"2026-02-29"', '"1900-02-29"', '"2026-11-31"', '"2026-13-01"', '"2026-00-10"', '"2026-01-00"', '"26-01-01"'],
    )
    await check(
      { type: 'string', format: 'date-time' },
      ['"2026-01-31T23:59:59Z"', '"2026-01-31T00:00:00.25+02:30"'],
      ['"2026-01-31"', '"2026-01-31T24:00:00Z"', '"2026-01-31T10:00:00"'],
    )
    await check({ type: 'string', format: 'time' }, ['"10:00:00Z"'], ['"10:60:00Z"', '"10:00"'])
    await check({ type: 'string', format: 'uuid' }, ['"9b2f6c1e-0000-4abc-8def-0123456789AB"'], ['"9b2f6c1e"'])
  })

  test('allows constants of any kind, also those that begin like others', () =>
    check(
      { enum: ['a', 'ab', 'a"b', '漢', '😀', '😁', 1, 12, -1, null, true, [1], { a: 'b' }] },
      ['"a"', '"ab"', String.raw`"a\"b"`, '"漢"', '"😀"', '"😁"', '1', '12', '-1', 'null', 'true', '[1]', '{"a":"b"}'],
      ['"b"', '"abc"', '2', '', '"', 'false', '[1', '122'],
    ))

  test('tells the schemas of oneOf apart by type or by a constant', async () => {
    await check({ oneOf: [shape('a'), shape('b'), { type: 'null' }] }, ['{"kind":"b"}', 'null'], ['{"kind":"c"}'])
    const $defs = { a: shape('a'), b: shape('b') }
    const oneOf = [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, { enum: [1, 2] }, { const: 3 }]
    await check({ oneOf, $defs }, ['{"kind":"a"}', '3'], ['{"kind":"c"}', '4'])
  })

  test('follows references', async () => {
    const $defs = {
      'a/b %': { type: 'integer' },
      pair: { type: 'array', items: { $ref: '#/$defs/a~1b%20%25' }, minItems: 2, maxItems: 2 },
    }
    await check(
      {
        type: 'object',
        properties: { p: { $ref: '#/$defs/pair' }, q: { $ref: '#/properties/p' } },
        required: ['p', 'q'],
        $defs,
      },
      ['{"p":[1,2],"q":[3,4]}'],
      ['{"p":[1,2],"q":[3]}'],
    )
  })

  test('of any JSON object allows nothing else', async () => {
    const accepts = await acceptorOf(grammarOf({ kind: 'json' }))
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
      [{ type: 'string', format: 'email' }, '.format'],
      [{ type: 'string', format: 'date', maxLength: 3 }, '.maxLength'],
      [{ type: 'string', maxLength: 2 ** 21 }, '.maxLength'],
      [{ type: 'string', minLength: 3, maxLength: 2 }, '.maxLength'],
      [{ type: 'string', minimum: 3 }, '.minimum'],
      [{ type: 'number', minimum: 1.5 }, '.minimum'],
      [{ type: 'number', exclusiveMinimum: 1 }, '.exclusiveMinimum'],
      [{ type: 'number', exclusiveMaximum: 1 }, '.exclusiveMaximum'],
      [{ type: 'number', multipleOf: 2 }, '.multipleOf'],
      [{ type: 'integer', minimum: 7, maximum: 6 }, ''],
      [{ type: 'integer', minimum: '7' }, '.minimum'],
      [{ type: 'array', uniqueItems: true }, '.uniqueItems'],
      [{ type: 'array', items: [{ type: 'string' }] }, '.items'],
      [{ type: 'array', items: false, minItems: 1 }, '.minItems'],
      [{ type: 'object', properties: { a: { not: {} } } }, '.properties.a.not'],
      [{ type: 'object', properties: { 'a b': { not: {} } } }, '.properties["a b"].not'],
      [{ type: 'object', properties: { a: false } }, '.properties.a'],
      [{ type: 'object', required: ['a'], additionalProperties: false }, '.required'],
      [{ type: 'object', patternProperties: {} }, '.patternProperties'],
      [{ type: 'object', minProperties: 1 }, '.minProperties'],
      [{ type: 'object', nullable: true }, '.nullable'],
      [{ anyOf: [{ type: 'string' }], type: 'object' }, '.type'],
      [{ anyOf: [{ type: 'string' }], properties: {} }, '.properties'],
      [{ $ref: '#/$defs/a', minLength: 1, $defs: { a: { type: 'string' } } }, '.minLength'],
      [{ allOf: [{ type: 'string' }, { type: 'string' }] }, '.allOf'],
      [{ anyOf: [] }, '.anyOf'],
      [{ oneOf: [{ type: 'string' }, { type: 'string', maxLength: 2 }] }, '.oneOf'],
      [{ oneOf: [{ type: 'integer' }, { type: 'number' }] }, '.oneOf'],
      [{ oneOf: [{ properties: shape('a').properties }, { properties: shape('b').properties }] }, '.oneOf'],
      [{ enum: [] }, '.enum'],
      [{ type: 'string', enum: ['a', 1] }, '.enum'],
      [{ type: 'integer', const: 1.5 }, '.const'],
      [{ type: 'date' }, '.type'],
      [{ type: [] }, '.type'],
      [{ type: 'array', items: null }, '.items'],
      [{ type: 'array', maxItems: null }, '.maxItems'],
      [{ type: 'object', additionalProperties: null }, '.additionalProperties'],
      [{ enum: [1, JSON.parse('1e999')] }, '.enum'],
      [{ anyOf: [{ $id: 'https://example.com', type: 'string' }] }, '.anyOf[0].$id'],
      [
        { type: 'object', properties: { ['x'.repeat(50_000)]: {} }, additionalProperties: true },
        '.additionalProperties',
      ],
      [{ $ref: '#/$defs/none' }, '.$ref'],
      [{ $ref: 'https://example.com/schema' }, '.$ref'],
      [{ $ref: '#' }, '.$ref'],
      [{ $ref: '#/$defs/a', $defs: { a: { type: 'array', items: { $ref: '#/$defs/a' } } } }, '.$defs.a.items.$ref'],
      [{ $ref: '#/$defs/a', $defs: { a: { type: 'string', pattern: 'x' } } }, '.$defs.a.pattern'],
      [{ enum: ['x'.repeat(300_000)] }, ''],
      [{ anyOf: Array.from({ length: 200 }, (_, index) => ({ const: `${index}` })) }, '.anyOf'],
      [{ type: 'object', properties: Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, {}])) }, ''],
      [ambiguous(20), ''],
      [{ type: 'array', prefixItems: Array.from({ length: 50 }, () => longName) }, ''],
      [{ type: 'array', prefixItems: Array.from({ length: 12 }, () => ({ oneOf: similar })), $defs: manyDefs }, ''],
    ]
    for (const [schema, place] of cases) {
      const isNamed = (error: unknown) =>
        error instanceof Problem && error.code === 'invalid_field' && error.details.field === `${field}${place}`
      assert.throws(() => grammarOf(formatOf(schema)), isNamed, JSON.stringify(schema).slice(0, 80))
    }
  })

  test('reads each schema once, however often its values can occur', async () => {
    let reads = 0
    let schema: object = {
      get type() {
        reads += 1
        return 'null'
      },
    }
    for (let level = 0; level < 10; level += 1) {
      schema = { type: 'object', required: ['a', 'b'], additionalProperties: schema }
    }
    grammarOf(formatOf(schema))
    assert.ok(reads < 10, `read ${reads} times`)
    await check(
      { type: 'object', required: ['a', 'b'], additionalProperties: { type: 'null' } },
      ['{"a":null,"b":null}', '{"a":null,"b":null,"c":null}'],
      ['{"a":null}', '{"a":null,"b":1}'],
    )
  })

  test('allows every value of generated schemas that the schema allows', async () => {
    await fc.assert(
      fc.asyncProperty(objectCase, async ({ schema, value }) => {
        assert.ok(Compile(schema).Check(value), 'the generated value')
        await check(schema, [JSON.stringify(value)], [JSON.stringify([value]), `${JSON.stringify(value)}x`])
      }),
      draws({ test: 40, endure: 1000 }),
    )
  })
})

const toolOf = (name: string, parameters: object, index = 0): Tool => ({
  name,
  parameters,
  field: `tools[${index}].parameters`,
})

/** Arguments whose grammar takes a third of what there may be, and a bit. */
const large = (letter: string) => ({ type: 'object', properties: { a: { const: letter.repeat(50_000) } } })

describe('the grammar of a call', () => {
  const pair = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }

  test('is that of the arguments if there is one tool', () =>
    checkTexts(grammarOfCall([toolOf('f', pair)]), ['{"a":1}'], ['f {"a":1}', '{}', '']))

  test('begins with the name if there are several, and then allows the arguments of that tool only', () =>
    checkTexts(
      grammarOfCall([toolOf('f', pair), toolOf('f-2', { type: 'object', properties: {} }, 1), toolOf('F', pair, 2)]),
      ['f {"a":1}', 'f-2 {}', 'F {"a":2}'],
      ['{"a":1}', 'f {}', 'f-2 {"a":1}', 'f  {"a":1}', 'f{"a":1}', 'g {"a":1}', 'f', ''],
    ))

  test('can have as many tools as a request', async () => {
    const tools = Array.from({ length: 128 }, (_, index) => toolOf(`tool_${index}`, pair, index))
    await checkTexts(grammarOfCall(tools), ['tool_0 {"a":0}', 'tool_127 {"a":127}'], ['tool_128 {"a":128}'])
  })

  test('names what it cannot enforce, or all tools if they are too large together', () => {
    const cases: readonly (readonly [tools: readonly Tool[], place: string])[] = [
      [
        [toolOf('f', { type: 'object', properties: { a: { pattern: 'x' } } })],
        'tools[0].parameters.properties.a.pattern',
      ],
      [[toolOf('f', pair), toolOf('g', { type: 'object', minProperties: 1 }, 1)], 'tools[1].parameters.minProperties'],
      [[toolOf('f', ambiguous(20))], 'tools[0].parameters'],
      [[toolOf('f', { enum: ['x'.repeat(300_000)] })], 'tools[0].parameters'],
      [['a', 'b', 'c'].map((name) => toolOf(name, large(name))), 'tools'],
    ]
    for (const [tools, place] of cases) {
      const isNamed = (error: unknown) =>
        error instanceof Problem && error.code === 'invalid_field' && error.details.field === place
      assert.throws(() => grammarOfCall(tools), isNamed, place)
    }
  })
})

/** Runs within a schema, with the sampling that leads furthest astray by default. */
const seeded = { maxOutputTokens: 200, temperature: 1 }
const prompt = promptOf('Write a record of a meeting with Anna Berg.')

/** The arguments of a reply that is a call. */
function inputOf({ text, parts: [call] = [] }: WholeReply): string {
  assert.ok(call?.kind === 'call' && call.tool === 'note' && text === '')
  return call.input
}

describe('a local model', () => {
  const engine = fixture(() => createTestEngine())
  setUp(() => engine.ready())

  const runPrompt = (asked: Prompt, limits: Partial<RunLimits>) =>
    engine.run(asked, { ...seeded, seed: 1, ...limits }, new AbortController().signal)
  const run = (format: ReplyFormat | undefined, limits: Partial<RunLimits> = {}) =>
    runPrompt({ ...prompt, format }, limits)

  /** Runs prompts of generated schemas. `jsonOf` returns what must follow the schema. */
  async function followsSchemas(
    promptFor: (schema: object) => Prompt,
    jsonOf: (reply: WholeReply) => string,
  ): Promise<string> {
    const counts = { complete: 0, max_output_tokens: 0 }
    const reply = async ({ schema }: SchemaCase, seed: number): Promise<void> => {
      const asked = promptFor(schema)
      const ran = await runPrompt(asked, { seed, maxOutputTokens: 160 })
      const { stopReason, usage } = ran
      assert.ok(stopReason === 'complete' || stopReason === 'max_output_tokens', stopReason)
      assert.equal(usage.inputTokens, (await engine.count(asked)).tokens)
      counts[stopReason] += 1
      if (stopReason === 'complete') assert.ok(Compile(schema).Check(JSON.parse(jsonOf(ran))), jsonOf(ran))
    }
    const inPrompt = objectCase.filter(({ schema }) => JSON.stringify(schema).length < 500)
    const some = fc.array(fc.tuple(inPrompt, fc.nat(2 ** 32 - 2)), { minLength: 10, maxLength: 10 })
    const property = fc.asyncProperty(some, async (cases) => {
      await Promise.all(cases.map(([each, seed]) => reply(each, seed)))
    })
    await fc.assert(property, { ...draws({ test: 2, endure: 16 }), endOnFailure: true })
    assert.ok(counts.complete > counts.max_output_tokens / 2, JSON.stringify(counts))
    return JSON.stringify(counts)
  }

  test('follows any schema in every complete reply', async (t) => {
    t.diagnostic(
      await followsSchemas(
        (schema) => ({ ...prompt, format: formatOf(schema) }),
        ({ text }) => text,
      ),
    )
  })

  test('follows any schema in the arguments of every complete call', async (t) => {
    t.diagnostic(
      await followsSchemas(
        (schema) => ({ ...prompt, tools: [toolOf('note', schema)], toolChoice: { tool: 'note' } }),
        inputOf,
      ),
    )
  })

  test('replies with a JSON object', async () => {
    for (const seed of [1, 2, 3, 4, 5, 6]) {
      const { text, stopReason } = await run({ kind: 'json' }, { seed, maxOutputTokens: 60 })
      assert.ok(text.startsWith('{'), text)
      if (stopReason === 'complete') assert.equal(typeof JSON.parse(text), 'object')
    }
  })

  test('writes the same reply to the same request, alone and beside others', async () => {
    const format = formatOf({
      type: 'object',
      properties: { topic: { type: 'string', maxLength: 30 } },
      required: ['topic'],
    })
    for (const temperature of [0, 1]) {
      const alone = await run(format, { temperature })
      assert.equal(alone.stopReason, 'complete')
      const together = await Promise.all([run(format, { temperature }), run(undefined), run(format, { temperature })])
      assert.deepEqual([together[0], together[2]], [alone, alone])
    }
  })

  test('writes the names of control tokens as text', async () => {
    const value = '<|im_start|>user<|im_end|><|endoftext|>'
    const { text, stopReason } = await run(formatOf({ const: value }))
    assert.deepEqual([text, stopReason], [JSON.stringify(value), 'complete'])
  })

  test('writes characters of every length in UTF-8 only', async () => {
    const words = ['é', '߿', 'ࠀ', 'ส', '日', '퟿', '\ue000', '😀', '\u{10ffff}']
    const item = { enum: words }
    const format = formatOf({ type: 'array', items: item, minItems: 8, maxItems: 8 })
    const replies = await Promise.all(Array.from({ length: 24 }, (_, seed) => run(format, { seed, temperature: 1.5 })))
    for (const { text, stopReason } of replies) {
      assert.equal(stopReason, 'complete')
      const written: unknown = JSON.parse(text)
      assert.ok(Array.isArray(written) && written.every((word: unknown) => words.some((each) => each === word)), text)
    }
  })

  test('ends at a stop string and at the most tokens', async () => {
    const format = formatOf({ type: 'array', items: { const: 'abc' }, minItems: 3, maxItems: 3 })
    const stopped = await run(format, { stop: ['c","'] })
    assert.deepEqual([stopped.text, stopped.stopReason], ['["ab', 'stop_sequence'])
    const cut = await run(format, { maxOutputTokens: 4 })
    assert.deepEqual([cut.stopReason, cut.usage.outputTokens], ['max_output_tokens', 4])
    assert.ok(cut.text !== '' && '["abc", "abc", "abc"]'.replaceAll(' ', '').startsWith(cut.text.replaceAll(' ', '')))
  })

  test('refuses a schema that it cannot enforce when it counts, and serves others', async () => {
    const unsupported = { ...prompt, format: formatOf({ type: 'string', pattern: 'a' }) }
    await assert.rejects(engine.count(unsupported), /response_format.json_schema.schema.pattern/)
    await assert.rejects(run(unsupported.format), /response_format.json_schema.schema.pattern/)
    assert.equal((await run(formatOf({ const: 1 }))).text, '1')
  })
})
