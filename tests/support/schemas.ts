import fc from 'fast-check'

/** A JSON schema within what a local model enforces, and a value that it allows. */
export interface SchemaCase {
  readonly schema: object
  readonly value: unknown
}

const note = fc.constantFrom({}, { title: 'T' }, { description: 'D', examples: [1] })
const word = fc.constantFrom('amber', 'a "quoted" word', 'Élan', 'x\\y', 'line\nbreak', '日本', '😀')
const name = fc.constantFrom('id', 'total amount', 'tags', 'say "yes"', 'größe', 'a/b~c')

const integer = fc
  .record({ least: fc.integer({ min: -50, max: 50 }), size: fc.integer({ min: 0, max: 20 }) })
  .chain(({ least, size }) =>
    fc
      .integer({ min: least, max: least + size })
      .map((value): SchemaCase => ({ schema: { type: 'integer', minimum: least, maximum: least + size }, value })),
  )
const text = fc
  .record({ value: fc.string({ unit: 'binary', maxLength: 6 }), spare: fc.nat(2), bounded: fc.boolean() })
  .map(({ value, spare, bounded }): SchemaCase => {
    const { length } = Array.from(value)
    const bounds = { minLength: Math.max(0, length - spare), maxLength: length + spare }
    return { schema: { type: 'string', ...(bounded && bounds) }, value }
  })
const kept = fc.constantFrom(
  { schema: { type: 'string', format: 'date' }, value: '2024-02-29' },
  { schema: { type: 'string', format: 'date-time' }, value: '2026-05-03T09:30:00.5+02:00' },
  { schema: { type: 'string', format: 'time' }, value: '23:59:00Z' },
  { schema: { type: 'array', prefixItems: [{ type: 'boolean' }, { const: 'x' }] }, value: [true, 'x'] },
  { schema: { type: 'integer', exclusiveMinimum: -7.5, exclusiveMaximum: 12_345 }, value: 12_344 },
  { schema: { type: 'string', format: 'uuid' }, value: '00000000-0000-4000-8000-00000000000a' },
  { schema: { type: 'string', minLength: 60, maxLength: 300 }, value: 'x'.repeat(130) },
  { schema: { type: 'number', minimum: -3, maximum: 12 }, value: 11.75 },
  { schema: { type: 'number', exclusiveMinimum: 0 }, value: 0.25 },
  { schema: { type: 'integer', minimum: 1, maximum: 10 ** 9 }, value: 123_456 },
  { schema: { oneOf: [{ const: 'a' }, { type: 'integer' }, { type: 'null' }] }, value: null },
)
const scalar: fc.Arbitrary<SchemaCase> = fc.oneof(
  integer,
  text,
  kept,
  fc.integer({ min: -(10 ** 14), max: 10 ** 14 }).map((value) => ({ schema: { type: 'integer' }, value })),
  fc.nat().map((value) => ({ schema: { type: 'integer', minimum: 0 }, value })),
  fc.constantFrom(0, -0.5, 1.25, 3e21, -2e-7).map((value) => ({ schema: { type: 'number' }, value })),
  fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value })),
  fc.constant({ schema: { type: 'null' }, value: null }),
  fc.constantFrom(null, 'x').map((value) => ({ schema: { type: ['string', 'null'] }, value })),
  fc.uniqueArray(word, { minLength: 1, maxLength: 4 }).map((all) => ({ schema: { enum: all }, value: all.at(-1) })),
  word.map((value) => ({ schema: { type: 'string', const: value }, value })),
)

const { schemaCase } = fc.letrec<{ schemaCase: SchemaCase }>((tie) => ({
  schemaCase: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc
      .record({ items: tie('schemaCase'), length: fc.nat(3), spare: fc.nat(2), described: note })
      .map(({ items, length, spare, described }) => ({
        schema: {
          type: 'array',
          items: items.schema,
          minItems: Math.max(0, length - spare),
          maxItems: length + spare,
          ...described,
        },
        value: Array.from({ length }, () => items.value),
      })),
    fc
      .uniqueArray(fc.record({ name, each: tie('schemaCase'), needed: fc.boolean(), given: fc.boolean() }), {
        selector: (property) => property.name,
        maxLength: 4,
      })
      .map((properties) => ({
        schema: {
          type: 'object',
          properties: Object.fromEntries(properties.map(({ name: key, each }) => [key, each.schema])),
          required: properties.filter(({ needed }) => needed).map(({ name: key }) => key),
          additionalProperties: false,
        },
        value: Object.fromEntries(
          properties.filter(({ needed, given }) => needed || given).map(({ name: key, each }) => [key, each.value]),
        ),
      })),
    fc
      .record({ named: tie('schemaCase'), others: tie('schemaCase'), length: fc.nat(2) })
      .map(({ named, others, length }) => ({
        schema: {
          type: 'object',
          properties: { named: named.schema },
          additionalProperties: others.schema,
          required: ['named', 'needed'],
        },
        value: {
          named: named.value,
          needed: others.value,
          ...Object.fromEntries(Array.from({ length }, (_, at) => [`name${at}`, others.value])),
        },
      })),
    fc.tuple(tie('schemaCase'), tie('schemaCase'), fc.nat(2)).map(([first, others, length]) => ({
      schema: { type: 'array', prefixItems: [first.schema], items: others.schema, minItems: 1 },
      value: [first.value, ...Array.from({ length }, () => others.value)],
    })),
    fc.tuple(tie('schemaCase'), tie('schemaCase')).map(([one, other]) => ({
      schema: { anyOf: [one.schema, other.schema] },
      value: other.value,
    })),
  ),
}))

/** Schemas whose root is an object, as vendors require. */
export const objectCase: fc.Arbitrary<SchemaCase> = fc
  .record({ one: schemaCase, other: schemaCase, shared: fc.boolean() })
  .map(({ one, other, shared }) => ({
    schema: {
      type: 'object',
      properties: { one: shared ? { $ref: '#/$defs/one' } : one.schema, other: other.schema },
      required: ['one', 'other'],
      additionalProperties: false,
      ...(shared && { $defs: { one: one.schema } }),
    },
    value: { one: one.value, other: other.value },
  }))
