export type Json = Readonly<Record<string, unknown>>

/** An object out of JSON text; anything else fails the test. */
export function parseObject(text: string): Json {
  const value: unknown = JSON.parse(text)
  if (isObject(value)) return value
  throw new Error(`not an object: ${text.slice(0, 200)}`)
}

/** What is at the end of a path of names and places; undefined where the path ends before. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((part, name) => {
    if (Array.isArray(part)) return part[Number(name)] as unknown
    return isObject(part) ? part[name] : undefined
  }, value)
}

/** The object at the end of a path; an empty one where there is none. */
export function objectAt(value: unknown, ...path: readonly (string | number)[]): Json {
  const part = at(value, ...path)
  return isObject(part) ? part : {}
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
