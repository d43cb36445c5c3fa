import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { completeDocument, exampleOf } from './examples.ts'

test('an example comes from the schema, else from the values, else from the type', () => {
  const schema = Type.Object({
    own: Type.String({ examples: ['mine'] }),
    choice: Type.Enum(['first', 'second']),
    fixed: Type.Literal(false),
    name: Type.Union([Type.String(), Type.Null()]),
    person: Type.Object({ name: Type.String() }),
    list: Type.Array(Type.Object({ day: Type.String({ format: 'date' }), count: Type.Integer() })),
    none: Type.Array(Type.String(), { maxItems: 0 }),
    next: Type.Union([Type.String(), Type.Null()]),
    unknown: Type.Unknown(),
    other: Type.Object({ fixed: Type.Integer(), name: Type.Object({ own: Type.Integer() }) }),
  })
  assert.deepEqual(exampleOf(schema, ['read'], { own: 'other', name: 'Client', 'person.name': 'Person', next: null }), {
    own: 'mine',
    choice: 'first',
    fixed: false,
    name: 'Client',
    person: { name: 'Person' },
    list: [{ day: '2026-03-12', count: 1 }],
    none: [],
    next: null,
    unknown: {},
    other: { fixed: 1, name: { own: 1 } },
  })
})

test('a document gets an example of each body, response and parameter that has none', () => {
  const parameter = { in: 'path', name: 'id', schema: Type.String() }
  const sample = { lang: 'sh', source: 'curl https://tollgate.example.com/x' }
  const operation = {
    operationId: 'change',
    tags: ['Things'],
    parameters: [parameter, { in: 'query', name: 'q', schema: Type.String() }],
    requestBody: { content: media() },
    responses: { 200: { content: media({ name: 'kept' }) }, 201: { content: media() }, 400: { content: media() } },
    'x-codeSamples': [sample],
  }
  completeDocument({ paths: { '/x': { post: operation } } }, 'https://tollgate.test', {
    Things: { name: 'all', 'change.request.name': 'asked', 'change.id': '7' },
    Others: { name: 'of others' },
  })
  const examples = [operation.requestBody, ...Object.values(operation.responses)].map(({ content }) =>
    exampleIn(content['application/json']),
  )
  assert.deepEqual(examples, [{ name: 'asked' }, { name: 'kept' }, { name: 'all' }, undefined])
  assert.deepEqual(operation.parameters.map(exampleIn), ['7', undefined])
  assert.equal(sample.source, 'curl https://tollgate.test/x')
})

const media = (example?: object) => ({
  'application/json': { schema: Type.Object({ name: Type.String() }), ...(example && { example }) },
})

const exampleIn = (part: object): unknown => Reflect.get(part, 'example')
