import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isJsonObject } from '../src/platform/text/json.ts'
import { breakingChanges } from '../scripts/docs/api-changes.ts'

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
            notes: { type: 'array', items: {}, maxItems: 0 },
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
const answerOfVendor = (...path: Path) => answer(...path).with(1, vendors)

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
  const breaks: readonly (readonly [path: Path, value: unknown, ...says: string[]])[] = [
    [['paths', url], undefined, 'is gone'],
    [of(), undefined, 'is gone'],
    [of('security'), [{ session: [] }], ': security was [{"apiKey":[]}], is [{"session":[]}]'],
    [of('parameters'), [], 'request.query by is gone'],
    [of('parameters', '0', 'required'), true, 'request.query by is required'],
    [of('parameters', '0', 'schema', 'maxLength'), 8, 'request.query by: maxLength was 9, is 8'],
    [
      of('parameters', '1'),
      { in: 'header', name: 'tenant', required: true, schema: {} },
      'request.header tenant is required',
    ],
    [of('requestBody'), undefined, 'request.body is gone'],
    [field('seed'), undefined, 'request.body.seed is gone'],
    [body('required'), ['model', 'seed'], 'request.body.seed is required'],
    [field('seed', 'type'), 'string', 'request.body.seed: type was "integer", is "string"'],
    [field('seed', 'minimum'), 1, 'request.body.seed: minimum was 0, is 1'],
    [field('seed', 'exclusiveMinimum'), 0, 'request.body.seed: exclusiveMinimum was not set, is 0'],
    [field('seed', 'multipleOf'), 2, 'request.body.seed: multipleOf was not set, is 2'],
    [field('model', 'pattern'), '^ab', 'request.body.model: pattern was "^a", is "^ab"'],
    [field('model', 'format'), 'uuid', 'request.body.model: format was not set, is "uuid"'],
    [field('model', 'enum'), ['a'], 'request.body.model takes only "a"'],
    [field('effort', 'enum'), ['low', 'most'], 'request.body.effort: the value "high" is gone'],
    [
      field('format', 'anyOf'),
      [object({ type: { const: 'text' } })],
      'request.body.format.type: the value "json" is gone',
    ],
    [field('stop', 'items', 'maxLength'), 9, 'request.body.stop[]: maxLength was not set, is 9'],
    [field('stop', 'maxItems'), 3, 'request.body.stop: maxItems was 4, is 3'],
    [
      field('metadata', 'additionalProperties', 'maxLength'),
      8,
      'request.body.metadata.additionalProperties: maxLength was 9, is 8',
    ],
    [
      field('metadata', 'additionalProperties'),
      false,
      'request.body.metadata: additionalProperties was {"type":"string","maxLength":9}, is false',
    ],
    [of('responses', '200'), undefined, 'response.200 is gone'],
    [of('responses', '201'), {}, 'response.201 is new'],
    [of('responses', '400', 'description'), '`unknown_field`: Or not.', 'response.400.code invalid_field is gone'],
    [of('responses', '200', 'headers'), {}, 'response.200.header x-cost is gone'],
    [answer('count'), undefined, 'response.200.body.count is gone'],
    [reply('required'), ['text'], 'response.200.body.reason may be missing'],
    [answer('count', 'type'), 'number', 'response.200.body.count: type was "integer", is "number"'],
    [answer('count', 'type'), undefined, 'response.200.body.count: type was "integer", is not set'],
    [answer('count', 'minimum'), undefined, 'response.200.body.count: minimum was 0, is not set'],
    [
      answer('reason', 'enum'),
      ['complete', 'stop'],
      'response.200.body.reason: the value "error" is gone',
      'response.200.body.reason: the value "stop" is new',
    ],
    [answer('reason', 'enum'), undefined, 'response.200.body.reason may have other values than "complete", "error"'],
    [answer('notes', 'maxItems'), undefined, 'response.200.body.notes: maxItems was 0, is not set'],
    [answer('kind', 'enum'), ['text'], 'response.200.body.kind: the value "embeddings" is gone'],
    [
      answer('items', 'items', 'anyOf', '2'),
      { type: 'integer' },
      'response.200.body.items[]: type was "string", is "integer"',
    ],
    [
      answer('items', 'items', 'anyOf'),
      [{ type: 'string' }],
      'response.200.body.items[]: type was "null", is "string"',
    ],
    [
      answerOfVendor('reason', 'enum'),
      ['stop'],
      'response.200.body.reason: the value "complete" is gone',
      'response.200.body.reason: the value "error" is gone',
    ],
  ]
  for (const [path, value, ...says] of breaks) {
    const named = says.map((what) => `POST ${path[1]}${what.startsWith(':') ? '' : ' '}${what}`)
    test(`finds: ${named.join(', ')}`, () => assert.deepEqual(breakingChanges(document, changed(path, value)), named))
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
      'items in a list of a vendor that had none',
      answerOfVendor('notes'),
      { type: 'array', items: { type: 'string' } },
    ],
    ['a value in the format of a vendor', answerOfVendor('reason', 'enum'), ['complete', 'error', 'pause_turn']],
  ]
  for (const [what, path, value] of additions) {
    test(`allows ${what}`, () => assert.deepEqual(breakingChanges(document, changed(path, value)), []))
  }
})
