import { fieldsOf, typeOf, type Field } from '../../src/platform/docs/fields.ts'
import { at, entriesOf, listOf, textOf } from '../../src/platform/text/json.ts'
import { renderFieldTable } from './field-tables.ts'
import { renderHead, renderTable } from './table.ts'

const introduction = `
All URLs start with the configured \`base_url\`. Requests and responses are JSON in UTF-8. Call from your server,
with a key in the header \`Authorization: Bearer <key>\`. Calls from a browser are refused, and so are fields that this page
does not list.

\`\`\`sh
curl https://tollgate.example.com/v1/generate \\
  -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "default", "instructions": "Answer briefly.", "input": "What is a ledger?", "max_output_tokens": 100}'
\`\`\`

A running service has the same description at \`/docs\`, with samples in curl, JavaScript and Python for every call, and as an
OpenAPI document at \`/openapi.json\`.

## Versions

`

const portal = `
## The portal

These URLs are for signed-in people, with the cookie \`session\`. Each returns JSON, or a page with the same status for
\`Accept: text/html\`. Changes are JSON and must come from the portal's own pages. An edit states in \`If-Match\` the version that
it is based on. The OpenAPI document describes the bodies of requests and responses.

`

interface Operation {
  readonly address: string
  readonly name: string
  readonly operation: unknown
}

/** `docs/api.md`, from the OpenAPI document. */
export function renderApi(document: unknown): string {
  const operations = entriesOf(at(document, 'paths')).flatMap(([address, methods]) =>
    entriesOf(methods).map(([method, operation]) => ({
      address,
      name: `${method.toUpperCase()} ${address}`,
      operation,
    })),
  )
  const generation = operations.filter(({ address }) => address.startsWith('/v1/'))
  const others = operations.filter(({ address }) => !address.startsWith('/v1/'))
  const rows = others.map(({ name, operation }) => [`\`${name}\``, textOf(at(operation, 'summary'))])
  return [
    renderHead('API', 'the routes of src/app.ts'),
    `${introduction}${textOf(at(document, 'info', 'description'))}\n`,
    ...generation.map(renderOperation),
    rows.length === 0 ? '' : portal + renderTable(['URL', 'Action'], rows),
  ].join('')
}

function renderOperation({ address, name, operation }: Operation): string {
  const success = at(operation, 'responses', '200')
  const parameters = Map.groupBy(listOf(at(operation, 'parameters')), (parameter) => textOf(at(parameter, 'in')))
  return [
    `\n## ${name}\n\n${textOf(at(operation, 'description'))}\n`,
    section('Query', ['Parameter', 'Type', 'Meaning'], (parameters.get('query') ?? []).map(parameterRow)),
    section('Request headers', ['Header', 'Type', 'Meaning'], (parameters.get('header') ?? []).map(parameterRow)),
    section(
      'Body',
      ['Field', 'Type', 'Required', 'Meaning'],
      fieldRows(bodyOf(at(operation, 'requestBody'))).map(({ field, type, required, meaning }) => [
        field,
        type,
        required ? 'yes' : 'no',
        meaning,
      ]),
    ),
    renderFieldTable(address),
    section(
      'Response',
      ['Field', 'Type', 'Meaning'],
      fieldRows(bodyOf(success)).map(({ field, type, meaning }) => [field, type, meaning]),
    ),
    section(
      'Response headers',
      ['Header', 'Meaning'],
      entriesOf(at(success, 'headers')).map(([header, value]) => [`\`${header}\``, meaningOf(value)]),
    ),
    section('Errors', ['Status', 'Codes'], refusalRows(at(operation, 'responses'))),
  ].join('')
}

function section(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? '' : `\n### ${title}\n\n${renderTable(head, rows)}`
}

function parameterRow(parameter: unknown): string[] {
  return [`\`${textOf(at(parameter, 'name'))}\``, typeOf(at(parameter, 'schema')), meaningOf(parameter)]
}

/** Errors of Tollgate's own API have a `code` from a list; all codes are explained in one place. */
function refusalRows(responses: unknown): string[][] {
  return entriesOf(responses)
    .filter(([status]) => status !== '200')
    .map(([status, response]) => {
      const body = bodyOf(response)
      const [own = body] = listOf(at(body, 'anyOf'))
      const codes = listOf(at(own, 'properties', 'error', 'properties', 'code', 'enum')).map(textOf)
      return [status, codes.map((code) => `[\`${code}\`](errors.md#${code})`).join(', ')]
    })
    .filter(([, codes]) => codes !== '')
}

interface FieldRow {
  readonly field: string
  readonly type: string
  readonly required: boolean
  readonly meaning: string
}

/** Every field of an object, including nested ones: `usage.input_tokens`, `data[].id`. */
function fieldRows(schema: unknown): FieldRow[] {
  return rowsOf(fieldsOf(schema), '')
}

function rowsOf(fields: readonly Field[], start: string): FieldRow[] {
  return fields.flatMap(({ name, type, required, description, fields: inner, isList }) => [
    { field: `\`${start}${name}\``, type, required, meaning: description },
    ...rowsOf(inner, `${start}${name}${isList ? '[]' : ''}.`),
  ])
}

function bodyOf(part: unknown): unknown {
  return at(part, 'content', 'application/json', 'schema')
}

function meaningOf(part: unknown): string {
  return textOf(at(part, 'description') ?? at(part, 'schema', 'description'))
}
