import { at, entriesOf, isJsonObject, listOf, textOf } from '../json.ts'

/** Values for formats and types whose schema has no example. */
const byFormat: Readonly<Record<string, unknown>> = {
  uuid: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
  'date-time': '2026-03-12T09:30:00.000Z',
  date: '2026-03-12',
  uri: 'https://tollgate.example.com',
}
const byType: Readonly<Record<string, unknown>> = { string: 'text', integer: 1, number: 1, boolean: true, null: null }

/** A value that matches the JSON schema: its own example, or else one made of the examples of its parts. */
export function exampleOf(schema: unknown): unknown {
  const [own] = listOf(at(schema, 'examples'))
  const [choice] = [...listOf(at(schema, 'enum')), ...listOf(at(schema, 'anyOf')).map(exampleOf)]
  const given = at(schema, 'example') ?? own ?? at(schema, 'const') ?? choice
  if (given !== undefined) return given
  const type = String(at(schema, 'type'))
  if (type === 'array') return at(schema, 'maxItems') === 0 ? [] : [exampleOf(at(schema, 'items'))]
  if (type !== 'object') return byFormat[String(at(schema, 'format'))] ?? byType[type] ?? {}
  return Object.fromEntries(entriesOf(at(schema, 'properties')).map(([name, inner]) => [name, exampleOf(inner)]))
}

/** Stands for the base URL in the samples of an operation. */
export const docsAddress = 'https://tollgate.example.com'

/**
 * Gives every JSON body and every successful JSON response of an OpenAPI document an example, and puts the base URL into the
 * samples. Changes the document.
 */
export function completeDocument(document: object, baseUrl: string): void {
  const operations = entriesOf(at(document, 'paths')).flatMap(([, methods]) => entriesOf(methods))
  for (const [, operation] of operations) {
    const replies = entriesOf(at(operation, 'responses')).filter(([status]) => status.startsWith('2'))
    for (const part of [at(operation, 'requestBody'), ...replies.map(([, reply]) => reply)]) {
      const media = at(part, 'content', 'application/json')
      if (isJsonObject(media)) Object.assign(media, { example: at(media, 'example') ?? exampleOf(at(media, 'schema')) })
    }
    for (const sample of listOf(at(operation, 'x-codeSamples')).filter(isJsonObject)) {
      Object.assign(sample, { source: textOf(sample['source']).replaceAll(docsAddress, baseUrl) })
    }
  }
}
