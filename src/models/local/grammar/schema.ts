import { Problem } from '../../../platform/problems.ts'

export type Schema = Readonly<Record<string, unknown>>

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Problem `invalid_field` for a part of a schema that a grammar cannot enforce. */
export function refusedSchema(field: string, what: string): Problem {
  return new Problem('invalid_field', `The field ${field} has ${what}, which local models do not support.`, {
    field,
  })
}

/** The place of a value within that of an object. A name that is not plain is quoted, and a long one shortened. */
export function placeIn(place: string, name: string): string {
  return /^[$\w]{1,64}$/.test(name) ? `${place}.${name}` : `${place}[${JSON.stringify(name.slice(0, 64))}]`
}

/** The largest bound of a count. */
const mostCounted = 2 ** 20

/** The bounds of a count. Throws Problem `invalid_field`. */
export function countOf(
  schema: Schema,
  leastName: string,
  mostName: string,
  place: string,
): { readonly least: number; readonly most?: number } {
  for (const name of [leastName, mostName]) {
    const value = schema[name] === undefined ? 0 : schema[name]
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostCounted) continue
    throw refusedSchema(`${place}.${name}`, `a value other than a whole number up to ${mostCounted}`)
  }
  const [least, most] = [Number(schema[leastName] ?? 0), schema[mostName]]
  if (typeof most !== 'number') return { least }
  if (most < least) throw refusedSchema(`${place}.${mostName}`, `a value below ${leastName}`)
  return { least, most }
}

/** The names that a JSON pointer in a URI fragment consists of (RFC 6901, section 6); undefined for anything else. */
export function pathOf(pointer: unknown): readonly string[] | undefined {
  if (pointer === '#') return []
  if (typeof pointer !== 'string' || !pointer.startsWith('#/')) return undefined
  return pointer
    .slice(2)
    .split('/')
    .map((part) => decoded(part).replaceAll('~1', '/').replaceAll('~0', '~'))
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The value at a path within another; undefined if there is none. */
export function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined,
    root,
  )
}
