import fc from 'fast-check'

/** A JSON schema within what a local model enforces, and a value that it allows. */
export interface SchemaCase {
  readonly schema: object
  readonly value: unknown
}

const note = fc.constantFrom({}, { title: 'T' }, { description: 'D', examples: [1] })
const word = fc.constantFrom('amber', 'a "quoted" word', 'Élan', 'x\\y', 'line\nbreak', '日本')
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
const scalar: fc.Arbitrary<SchemaCase> = fc.oneof(
  integer,
  text,
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
    fc.tuple(tie('schemaCase'), tie('schemaCase')).map(([one, other]) => ({
      schema: { anyOf: [one.schema, other.schema] },
      value: other.value,
    })),
  ),
}))

/** Schemas whose root is an object, as vendors ask for. */
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
