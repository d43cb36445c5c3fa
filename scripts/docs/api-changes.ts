import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { at, entriesOf, isJsonObject, listOf, textOf, type Json } from '../../src/platform/text/json.ts'

/** Where the API document announces that responses get new values. */
const growing = /^POST \/v1\/(?:chat\/completions|responses|messages) response|\.(?:kind|capabilities\[\]|dialect)$/

const lower = new Set('minimum exclusiveMinimum minLength minItems minProperties'.split(' '))
const upper = new Set('maximum exclusiveMaximum maxLength maxItems maxProperties'.split(' '))
/** Keywords that say nothing about what is valid, and those that have a comparison of their own. */
const apart = new Set(
  'title description example examples deprecated type enum const properties required additionalProperties items propertyNames'.split(
    ' ',
  ),
)

type Side = 'request' | 'response'
type Entry = [name: string, schema: unknown]

/**
 * What breaks callers of an earlier version, in words: a request that was valid no longer is, or a response lacks what it had or has what
 * they cannot know. Both are OpenAPI documents.
 */
export function breakingChanges(before: unknown, now: unknown): string[] {
  const changed = entriesOf(at(before, 'paths')).flatMap(([url, methods]) =>
    entriesOf(methods).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${url}`
      const today = at(now, 'paths', url, method)
      if (today === undefined) return [`${name} is gone`]
      return [
        ...keywordChanges(operation, today, name, ['security']),
        ...schemaChanges(requestOf(operation), requestOf(today), `${name} request`, 'request'),
        ...schemaChanges(responsesOf(operation), responsesOf(today), `${name} response`, 'response'),
        ...Object.keys(responsesOf(today).properties)
          .filter((status) => status < '400' && !(status in responsesOf(operation).properties))
          .map((status) => `${name} response.${status} is new`),
      ]
    }),
  )
  return [...new Set(changed)]
}

/** All that a caller sends, as one schema. */
function requestOf(operation: unknown): Json {
  const parameters = listOf(at(operation, 'parameters'))
  const schemas = parameters.map((parameter): Entry => [nameOf(parameter), at(parameter, 'schema')])
  const body = at(operation, 'requestBody')
  const required = parameters.filter((parameter) => at(parameter, 'required') === true).map(nameOf)
  return {
    properties: { ...bodiesOf(body), ...Object.fromEntries(schemas) },
    required: at(body, 'required') === true ? ['body', ...required] : required,
  }
}

const nameOf = (parameter: unknown): string => `${textOf(at(parameter, 'in'))} ${textOf(at(parameter, 'name'))}`

/** All that a caller receives, as one schema with a property for each status. */
function responsesOf(operation: unknown): { readonly properties: Json } {
  const statuses = entriesOf(at(operation, 'responses')).map(([status, response]): Entry => {
    const headers = entriesOf(at(response, 'headers')).map(([name, header]): Entry => [
      `header ${name}`,
      at(header, 'schema'),
    ])
    const codes = codesOf(response).map((code): Entry => [`code ${code}`, {}])
    return [status, { properties: { ...bodiesOf(response), ...Object.fromEntries([...headers, ...codes]) } }]
  })
  return { properties: Object.fromEntries(statuses) }
}

const bodiesOf = (part: unknown): Json =>
  Object.fromEntries(
    entriesOf(at(part, 'content')).map(([type, body]) => [
      type === 'application/json' ? 'body' : `body ${type}`,
      at(body, 'schema'),
    ]),
  )

/** The codes of errors that a response can have, which its description explains, in every dialect. */
export const codesOf = (response: unknown): string[] =>
  Array.from(textOf(at(response, 'description')).matchAll(/^`(\w+)`: /gm), ([, code = '']) => code)

function schemaChanges(before: unknown, now: unknown, where: string, side: Side): string[] {
  const [old, today] = [alternativesOf(before), alternativesOf(now)]
  if (old.length + today.length > 2) {
    const compare = (one: unknown, other: unknown) => schemaChanges(one, other, where, side)
    const added = side === 'response' && !growing.test(where) ? today : []
    return [
      ...old.flatMap((one) => fewest(today.map((other) => compare(one, other)))),
      ...added.flatMap((other) => fewest(old.map((one) => compare(one, other)))),
    ]
  }
  // What is in the inner one must be valid in the outer one.
  const [inner, outer] = side === 'request' ? [before, now] : [now, before]
  const types = typesOf(outer)
  if (types.length > 0 && (typesOf(inner).length === 0 || typesOf(inner).some((type) => !includesType(types, type)))) {
    return keywordChanges(before, now, where, ['type'])
  }
  // Items of a list that never had any are new values.
  const isOpened = side === 'response' && growing.test(where) && at(before, 'maxItems') === 0
  const bounds = Object.keys(isJsonObject(outer) ? outer : {}).filter(
    (key) => !apart.has(key) && !(isOpened && key === 'maxItems'),
  )
  return [
    ...valueChanges(before, now, where, side),
    ...keywordChanges(
      before,
      now,
      where,
      bounds.filter((key) => !isWithin(key, at(inner, key), at(outer, key))),
    ),
    ...fieldChanges(before, now, where, side),
    ...['items', 'propertyNames', 'additionalProperties'].flatMap((key) => {
      const [most, least] = [at(outer, key) ?? true, at(inner, key) ?? true]
      if (most === true || least === false || (most === false && side === 'response')) return []
      if (most === false || least === true) return keywordChanges(before, now, where, [key])
      return schemaChanges(at(before, key), at(now, key), `${where}${key === 'items' ? '[]' : `.${key}`}`, side)
    }),
  ]
}

const alternativesOf = (schema: unknown): readonly unknown[] => {
  const anyOf = listOf(at(schema, 'anyOf'))
  return anyOf.length > 0 ? anyOf : [schema]
}

const fewest = (each: readonly string[][]): string[] => each.toSorted((a, b) => a.length - b.length)[0] ?? []

/** Values without a type are texts. */
const typesOf = (schema: unknown): unknown[] =>
  [at(schema, 'type') ?? (valuesOf(schema).length > 0 ? 'string' : [])].flat()

const includesType = (types: readonly unknown[], type: unknown): boolean =>
  types.includes(type) || (type === 'integer' && types.includes('number'))

function isWithin(key: string, inner: unknown, outer: unknown): boolean {
  if (lower.has(key)) return Number(inner) >= Number(outer)
  return upper.has(key) ? Number(inner) <= Number(outer) : isDeepStrictEqual(inner, outer)
}

const keywordChanges = (before: unknown, now: unknown, where: string, keys: readonly string[]): string[] =>
  keys
    .filter((key) => !isDeepStrictEqual(at(before, key), at(now, key)))
    .map((key) => `${where}: ${key} was ${wordsOf(at(before, key))}, is ${wordsOf(at(now, key))}`)

const wordsOf = (value: unknown): string => (value === undefined ? 'not set' : JSON.stringify(value))

function valueChanges(before: unknown, now: unknown, where: string, side: Side): string[] {
  const [old, today] = [valuesOf(before), valuesOf(now)]
  if (where.endsWith('.error.code')) return []
  const gone = today.length > 0 ? old.filter((value) => !today.includes(value)) : []
  const added = today.filter((value) => !old.includes(value))
  const isClosed = side === 'response' && !growing.test(where) && old.length > 0
  return [
    ...gone.map((value) => `${where}: the value ${value} is gone`),
    ...(isClosed ? added.map((value) => `${where}: the value ${value} is new`) : []),
    ...(isClosed && today.length === 0 ? [`${where} may have other values than ${old.join(', ')}`] : []),
    ...(side === 'request' && old.length === 0 && today.length > 0 ? [`${where} takes only ${today.join(', ')}`] : []),
  ]
}

const valuesOf = (schema: unknown): string[] =>
  [...listOf(at(schema, 'enum')), ...[at(schema, 'const') ?? []].flat()].map((value) => JSON.stringify(value))

function fieldChanges(before: unknown, now: unknown, where: string, side: Side): string[] {
  const fields = at(now, 'properties')
  const [needed, given] = [listOf(at(before, 'required')), listOf(at(now, 'required'))]
  return [
    ...entriesOf(at(before, 'properties')).flatMap(([name, schema]) =>
      at(fields, name) === undefined
        ? [`${where}.${name} is gone`]
        : schemaChanges(schema, at(fields, name), `${where}.${name}`, side),
    ),
    ...(side === 'request'
      ? given.filter((name) => !needed.includes(name)).map((name) => `${where}.${textOf(name)} is required`)
      : needed
          .filter((name) => !given.includes(name) && at(fields, textOf(name)) !== undefined)
          .map((name) => `${where}.${textOf(name)} may be missing`)),
  ]
}

/** What breaks callers of each kept release, by the name of its file. */
export function changesSinceReleases(now: unknown): Map<string, string[]> {
  const folder = path.join(import.meta.dirname, '../../tests/releases')
  const kept = (file: string): unknown => JSON.parse(gunzipSync(readFileSync(path.join(folder, file))).toString())
  return new Map(globSync('*.openapi.json.gz', { cwd: folder }).map((file) => [file, breakingChanges(kept(file), now)]))
}
