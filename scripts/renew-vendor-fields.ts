// Usage: node scripts/renew-vendor-fields.ts <vendor> <document> <source> <date>
//
// Replaces the names of the fields that the vendor's OpenAPI document (YAML or JSON, downloaded before) lists for each API that Tollgate
// serves, in tests/vendor-documents.json. `src/generation/dialects/field-rules.test.ts` then names each field without a row.
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parse } from 'yaml'
import { at, entriesOf, listOf } from '../src/platform/text/json.ts'

const [vendor, document, source, date] = process.argv.slice(2)
if (vendor === undefined || document === undefined || source === undefined || date === undefined) {
  throw new Error('Usage: node scripts/renew-vendor-fields.ts <vendor> <document> <source> <date>')
}

const apis: Readonly<Record<string, RegExp>> = {
  'chat completions': /^(?:\/v1)?\/chat\/completions$/,
  responses: /^(?:\/v1)?\/responses$/,
  messages: /^(?:\/v1)?\/messages$/,
}

const root: unknown = parse(readFileSync(document, 'utf8'), { maxAliasCount: -1 })

/** The names of the properties of a schema, and of those that it is made of. */
function propertiesOf(schema: unknown, seen = new Set<unknown>()): readonly string[] {
  if (seen.has(schema)) return []
  seen.add(schema)
  const reference = at(schema, '$ref')
  if (typeof reference === 'string') {
    return propertiesOf(at(root, ...reference.replace(/^#\//, '').split('/')), seen)
  }
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((name) => listOf(at(schema, name)))
  return [
    ...entriesOf(at(schema, 'properties')).map(([name]) => name),
    ...parts.flatMap((part) => propertiesOf(part, seen)),
  ]
}

const operations = entriesOf(at(root, 'paths'))
const found = Object.entries(apis).flatMap(([api, address]): [string, readonly string[]][] => {
  const operation = operations.find(([name, methods]) => address.test(name) && at(methods, 'post') !== undefined)
  if (!operation) return []
  const body = at(operation[1], 'post', 'requestBody', 'content', 'application/json', 'schema')
  return [[api, [...new Set(propertiesOf(body))].toSorted()]]
})
if (found.length === 0) throw new Error(`${document} describes none of these APIs: ${Object.keys(apis).join(', ')}`)

const file = path.join(import.meta.dirname, '../tests/vendor-documents.json')
const known: unknown = JSON.parse(readFileSync(file, 'utf8'))
const renewed = { ...Object.fromEntries(entriesOf(known)), [vendor]: { source, date, ...Object.fromEntries(found) } }
writeFileSync(file, `${JSON.stringify(renewed, null, 2)}\n`)
