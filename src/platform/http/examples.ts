import { at, entriesOf, isJsonObject, listOf, textOf } from '../text/json.ts'

/** Values for formats and types whose schema has no example. */
const byFormat: Readonly<Record<string, unknown>> = {
  uuid: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
  'date-time': '2026-03-12T09:30:00.000Z',
  date: '2026-03-12',
  uri: 'https://tollgate.example.com',
}
const byType: Readonly<Record<string, unknown>> = { string: 'text', integer: 1, number: 1, boolean: true, null: null }

/**
 * Values for fields whose schema has no example, by the tag of the operation. A name is that of the field, with its parent
 * (`consultant.name`) where others have the same, or with the operation (`invite.request.name`).
 */
export type ExampleValues = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/**
 * A value that matches the JSON schema at `path`: its own example, or one of `values`, or else one made of the examples of
 * its parts.
 */
export function exampleOf(schema: unknown, path: readonly string[] = [], values: ExampleValues[string] = {}): unknown {
  const [own] = listOf(at(schema, 'examples'))
  const [choice] = listOf(at(schema, 'enum'))
  const given = at(schema, 'example') ?? own ?? at(schema, 'const') ?? choice
  if (given !== undefined) return given
  const names = [path.slice(-2).join('.'), path.at(-1) ?? '']
  const name = names.find((each) => Object.hasOwn(values, each) && hasType(values[each], at(schema, 'type')))
  if (name !== undefined) return values[name]
  const [alternative] = listOf(at(schema, 'anyOf'))
  if (alternative !== undefined) return exampleOf(alternative, path, values)
  const type = String(at(schema, 'type'))
  if (type === 'array') return at(schema, 'maxItems') === 0 ? [] : [exampleOf(at(schema, 'items'), path, values)]
  if (type !== 'object') return byFormat[String(at(schema, 'format'))] ?? byType[type] ?? {}
  const fields = entriesOf(at(schema, 'properties'))
  return Object.fromEntries(fields.map(([field, inner]) => [field, exampleOf(inner, [...path, field], values)]))
}

/** Another field can have the same name. */
function hasType(value: unknown, type: unknown): boolean {
  if (type === 'object') return isJsonObject(value)
  if (type === 'array') return Array.isArray(value)
  return type === undefined || (type === 'integer' ? Number.isInteger(value) : typeof value === type)
}

/** Stands for the base URL in the samples of an operation. */
export const docsAddress = 'https://tollgate.example.com'

/**
 * Gives every JSON body, every successful JSON response and every parameter in a path of an OpenAPI document an example, and
 * puts the base URL into the samples. Changes the document.
 */
export function completeDocument(document: object, baseUrl: string, values: ExampleValues): void {
  const operations = entriesOf(at(document, 'paths')).flatMap(([, methods]) => entriesOf(methods))
  for (const [, operation] of operations) completeOperation(operation, values[textOf(listOf(at(operation, 'tags'))[0])])
  const samples = operations.flatMap(([, operation]) => listOf(at(operation, 'x-codeSamples')))
  for (const sample of samples.filter(isJsonObject)) {
    Object.assign(sample, { source: textOf(sample['source']).replaceAll(docsAddress, baseUrl) })
  }
}

function completeOperation(operation: unknown, values: ExampleValues[string] = {}): void {
  const id = textOf(at(operation, 'operationId'))
  const complete = (part: unknown, ...path: string[]) => {
    if (!isJsonObject(part) || part['example'] !== undefined) return
    Object.assign(part, { example: exampleOf(part['schema'], path, values) })
  }
  complete(at(operation, 'requestBody', 'content', 'application/json'), `${id}.request`)
  for (const [status, reply] of entriesOf(at(operation, 'responses'))) {
    if (status.startsWith('2')) complete(at(reply, 'content', 'application/json'), `${id}.response`)
  }
  for (const parameter of listOf(at(operation, 'parameters'))) {
    if (at(parameter, 'in') === 'path' || at(parameter, 'required') === true) {
      complete(parameter, id, textOf(at(parameter, 'name')))
    }
  }
}
