import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isJsonObject } from '../src/platform/text/json.ts'
import { breakingChanges } from './support/api-changes.ts'

const object = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required })
const json = (schema: object) => ({ content: { 'application/json': { schema } } })
const operation = {
  security: [{ apiKey: [] }],
  parameters: [{ in: 'query', name: 'by', required: false, schema: { type: 'string', maxLength: 9 } }],
  requestBody: {
    required: true,
    ...json({
      ...object(
        {
          model: { type: 'string', minLength: 1, maxLength: 9, pattern: '^a', description: 'The model.' },
          seed: { type: 'integer', minimum: 0, maximum: 9 },
          effort: { enum: ['low', 'high'] },
          format: { anyOf: [object({ type: { const: 'text' } }), object({ type: { const: 'json' } })] },
          stop: { type: 'array', items: { type: 'string' }, maxItems: 4 },
          metadata: { type: 'object', additionalProperties: { type: 'string', maxLength: 9 } },
        },
        ['model'],
      ),
      additionalProperties: false,
    }),
  },
  responses: {
    200: {
      headers: { 'x-cost': { schema: { type: 'string' } } },
      ...json(
        object(
          {
            text: { type: 'string' },
            count: { type: 'integer', minimum: 0 },
            reason: { type: 'string', enum: ['complete', 'error'] },
            kind: { enum: ['text', 'embeddings'] },
            items: { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
          },
          ['text', 'reason'],
        ),
      ),
    },
    400: {
      description: '`invalid_field`: It is wrong.\n\n`unknown_field`: It is unknown.',
      ...json(object({ error: object({ code: { enum: ['invalid_field', 'unknown_field'] } }) })),
    },
  },
}
const [url, vendors] = ['/v1/things', '/v1/messages']
const document = { paths: { [url]: { post: operation }, [vendors]: { post: operation } } }

type Path = readonly string[]
const of = (...path: Path) => ['paths', url, 'post', ...path]
const body = (...path: Path) => of('requestBody', 'content', 'application/json', 'schema', ...path)
const field = (...path: Path) => body('properties', ...path)
const reply = (...path: Path) => of('responses', '200', 'content', 'application/json', 'schema', ...path)
const answer = (...path: Path) => reply('properties', ...path)

/** A copy of the document with a value at a path, or with nothing there if it is undefined. */
function changed(path: Path, value: unknown): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(document))
  const last = path.at(-1) ?? ''
  const place = path.slice(0, -1).reduce<unknown>((part, name) => (isObject(part) ? part[name] : undefined), copy)
  assert.ok(isObject(place))
  if (value === undefined) assert.ok(Reflect.deleteProperty(place, last))
  else Reflect.set(place, last, value)
  return copy
}

const isObject = (value: unknown): value is Record<string, unknown> => isJsonObject(value) || Array.isArray(value)

describe('the comparison of API documents', () => {
  const name = `POST ${url}`
  const breaks: readonly (readonly [path: Path, value: unknown, ...says: string[]])[] = [
    [['paths', url], undefined, `${name} is gone`],
    [of(), undefined, `${name} is gone`],
    [of('security'), [{ session: [] }], `${name}: security was [{"apiKey":[]}], is [{"session":[]}]`],
    [of('parameters'), [], `${name} request.query by is gone`],
    [of('parameters', '0', 'required'), true, `${name} request.query by is required`],
    [of('parameters', '0', 'schema', 'maxLength'), 8, `${name} request.query by: maxLength was 9, is 8`],
    [
      of('parameters', '1'),
      { in: 'header', name: 'tenant', required: true, schema: {} },
      `${name} request.header tenant is required`,
    ],
    [of('requestBody'), undefined, `${name} request.body is gone`],
    [field('seed'), undefined, `${name} request.body.seed is gone`],
    [body('required'), ['model', 'seed'], `${name} request.body.seed is required`],
    [field('seed', 'type'), 'string', `${name} request.body.seed: type was "integer", is "string"`],
    [field('seed', 'minimum'), 1, `${name} request.body.seed: minimum was 0, is 1`],
    [field('seed', 'exclusiveMinimum'), 0, `${name} request.body.seed: exclusiveMinimum was not set, is 0`],
    [field('seed', 'multipleOf'), 2, `${name} request.body.seed: multipleOf was not set, is 2`],
    [field('model', 'pattern'), '^ab', `${name} request.body.model: pattern was "^a", is "^ab"`],
    [field('model', 'format'), 'uuid', `${name} request.body.model: format was not set, is "uuid"`],
    [field('model', 'enum'), ['a'], `${name} request.body.model takes only "a"`],
    [field('effort', 'enum'), ['low', 'most'], `${name} request.body.effort: the value "high" is gone`],
    [
      field('format', 'anyOf'),
      [object({ type: { const: 'text' } })],
      `${name} request.body.format.type: the value "json" is gone`,
    ],
    [field('stop', 'items', 'maxLength'), 9, `${name} request.body.stop[]: maxLength was not set, is 9`],
    [field('stop', 'maxItems'), 3, `${name} request.body.stop: maxItems was 4, is 3`],
    [
      field('metadata', 'additionalProperties', 'maxLength'),
      8,
      `${name} request.body.metadata.additionalProperties: maxLength was 9, is 8`,
    ],
    [
      field('metadata', 'additionalProperties'),
      false,
      `${name} request.body.metadata: additionalProperties was {"type":"string","maxLength":9}, is false`,
    ],
    [of('responses', '200'), undefined, `${name} response.200 is gone`],
    [of('responses', '201'), {}, `${name} response.201 is new`],
    [
      of('responses', '400', 'description'),
      '`unknown_field`: Or not.',
      `${name} response.400.code invalid_field is gone`,
    ],
    [of('responses', '200', 'headers'), {}, `${name} response.200.header x-cost is gone`],
    [answer('count'), undefined, `${name} response.200.body.count is gone`],
    [reply('required'), ['text'], `${name} response.200.body.reason may be missing`],
    [answer('count', 'type'), 'number', `${name} response.200.body.count: type was "integer", is "number"`],
    [answer('count', 'type'), undefined, `${name} response.200.body.count: type was "integer", is not set`],
    [answer('count', 'minimum'), undefined, `${name} response.200.body.count: minimum was 0, is not set`],
    [
      answer('reason', 'enum'),
      ['complete', 'stop'],
      `${name} response.200.body.reason: the value "error" is gone`,
      `${name} response.200.body.reason: the value "stop" is new`,
    ],
    [
      answer('reason', 'enum'),
      undefined,
      `${name} response.200.body.reason may have other values than "complete", "error"`,
    ],
    [answer('kind', 'enum'), ['text'], `${name} response.200.body.kind: the value "embeddings" is gone`],
    [
      answer('items', 'items', 'anyOf', '2'),
      { type: 'integer' },
      `${name} response.200.body.items[]: type was "string", is "integer"`,
    ],
    [
      answer('items', 'items', 'anyOf'),
      [{ type: 'string' }],
      `${name} response.200.body.items[]: type was "null", is "string"`,
    ],
    [
      [
        'paths',
        vendors,
        'post',
        'responses',
        '200',
        'content',
        'application/json',
        'schema',
        'properties',
        'reason',
        'enum',
      ],
      ['stop'],
      `POST ${vendors} response.200.body.reason: the value "complete" is gone`,
      `POST ${vendors} response.200.body.reason: the value "error" is gone`,
    ],
  ]
  for (const [path, value, ...says] of breaks) {
    test(`finds: ${says.join(', ')}`, () => assert.deepEqual(breakingChanges(document, changed(path, value)), says))
  }

  const additions: readonly (readonly [what: string, path: Path, value: unknown])[] = [
    ['an endpoint', ['paths', '/v1/others'], { get: {} }],
    ['a method', ['paths', url, 'get'], {}],
    ['a parameter', of('parameters', '1'), { in: 'query', name: 'tag', required: false, schema: { type: 'string' } }],
    ['a field of a request', field('user'), { type: 'string' }],
    ['a field that is no longer required', body('required'), []],
    ['other fields', body('additionalProperties'), true],
    ['a wider type', field('seed', 'type'), 'number'],
    ['a wider bound', field('seed', 'maximum'), 10],
    ['no bound', field('seed', 'maximum'), undefined],
    ['no pattern', field('model', 'pattern'), undefined],
    ['a value of a request', field('effort', 'enum'), ['low', 'high', 'most']],
    ['any value of a request', field('effort'), { type: 'string' }],
    ['an alternative of a request', field('format', 'anyOf', '2'), { type: 'string' }],
    ['another description', field('model', 'description'), 'Which model.'],
    ['a header of a response', of('responses', '200', 'headers', 'x-model'), { schema: { type: 'string' } }],
    ['a status of errors', of('responses', '409'), { description: '`conflict`: It is taken.' }],
    [
      'an error code',
      of('responses', '400'),
      {
        description: '`invalid_field`: Wrong.\n\n`unknown_field`: Unknown.\n\n`missing_field`: Missing.',
        ...json(object({ error: object({ code: { enum: ['invalid_field', 'unknown_field', 'missing_field'] } }) })),
      },
    ],
    ['a field of a response', answer('cost'), { type: 'string' }],
    ['a field of a response that is never missing', reply('required'), ['text', 'reason', 'count']],
    ['a narrower bound of a response', answer('count', 'minimum'), 1],
    ['a value that the document announces', answer('kind', 'enum'), ['text', 'embeddings', 'images']],
    [
      'a value in the format of a vendor',
      [
        'paths',
        vendors,
        'post',
        'responses',
        '200',
        'content',
        'application/json',
        'schema',
        'properties',
        'reason',
        'enum',
      ],
      ['complete', 'error', 'pause_turn'],
    ],
  ]
  for (const [what, path, value] of additions) {
    test(`allows ${what}`, () => assert.deepEqual(breakingChanges(document, changed(path, value)), []))
  }
})
