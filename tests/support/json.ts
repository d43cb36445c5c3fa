export type Json = Readonly<Record<string, unknown>>

/** Parses a JSON object. Anything else fails the test. */
export function parseObject(text: string): Json {
  const value: unknown = JSON.parse(text)
  if (isObject(value)) return value
  throw new Error(`not an object: ${text.slice(0, 200)}`)
}

/** The value at a path of names and indexes; undefined if there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((part, name) => {
    if (Array.isArray(part)) return part[Number(name)] as unknown
    return isObject(part) ? part[name] : undefined
  }, value)
}

/** The object at a path; an empty object if there is none. */
export function objectAt(value: unknown, ...path: readonly (string | number)[]): Json {
  const part = at(value, ...path)
  return isObject(part) ? part : {}
}

/** The list at a path; an empty list if there is none. */
export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const part = at(value, ...path)
  return Array.isArray(part) ? part : []
}

/** The value of a field in each of several objects. */
export function valuesOf<Row extends object, Name extends keyof Row>(rows: readonly Row[], name: Name): Row[Name][]
export function valuesOf(rows: readonly unknown[], name: string): unknown[]
export function valuesOf(rows: readonly unknown[], name: string): unknown[] {
  return rows.map((row) => at(row, name))
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
