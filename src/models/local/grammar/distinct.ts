import { isSchema, pathOf, valueAt, type Schema } from './schema.ts'

/** Notes work: many schemas with many constants take much to compare. Throws if there is too much. */
type Work = (steps: number) => void

/**
 * Whether no value fits two of the schemas: they have different types, different constants, or a required property that has
 * different constants. Undecided is false.
 */
export function areDistinct(list: readonly unknown[], root: object, work: Work): boolean {
  const shapes = list.map((each) => shapeOf(referred(each, root), root, work))
  return shapes.every((one, at) => shapes.slice(at + 1).every((other) => differ(one, other, work)))
}

/** What tells the values of a schema apart from others. */
interface Shape {
  readonly types: ReadonlySet<unknown> | undefined
  readonly constants: ReadonlySet<unknown> | undefined
  /** The constants of the required properties, by name. */
  readonly properties: ReadonlyMap<string, ReadonlySet<unknown>>
}

function shapeOf(schema: Schema, root: object, work: Work): Shape {
  const properties = requiredConstants(schema, root)
  const shape = { types: typesOf(schema), constants: constantsOf(schema), properties }
  work(properties.values().reduce((sum, { size }) => sum + size, 1))
  return shape
}

function differ(one: Shape, other: Shape, work: Work): boolean {
  const areDisjoint = (some: ReadonlySet<unknown> | undefined, more: ReadonlySet<unknown> | undefined): boolean => {
    work(Math.min(some?.size ?? 0, more?.size ?? 0) + 1)
    return some !== undefined && more !== undefined && some.isDisjointFrom(more)
  }
  return (
    areDisjoint(one.constants, other.constants) ||
    areDisjoint(one.types, other.types) ||
    one.properties.entries().some(([name, constants]) => areDisjoint(constants, other.properties.get(name)))
  )
}

/** Longer lists are not compared: they do not tell schemas apart in practice. */
const mostConstants = 64

/** Undefined without `const` and `enum`, for long lists, and for values that can be written in several ways. */
function constantsOf({ const: constant, enum: values }: Schema): ReadonlySet<unknown> | undefined {
  const list: unknown = constant === undefined ? values : [constant]
  if (
    !Array.isArray(list) ||
    list.length > mostConstants ||
    list.some((value) => typeof value === 'object' && value !== null)
  )
    return undefined
  return new Set<unknown>(list)
}

function typesOf({ type, const: constant, enum: values }: Schema): ReadonlySet<unknown> | undefined {
  const given: unknown = type ?? (constant === undefined ? values : [constant])
  if (given === undefined) return undefined
  const list: readonly unknown[] = Array.isArray(given) ? given : [given]
  const names = type === undefined ? list.map(jsonTypeOf) : list
  return new Set(names.map((name) => (name === 'integer' ? 'number' : name)))
}

/** The name of the JSON type of a value. */
export function jsonTypeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

/** The constants of an object only: without the type, any other value would fit too. */
function requiredConstants({ type, properties, required }: Schema, root: object): Shape['properties'] {
  if (type !== 'object' || !isSchema(properties) || !Array.isArray(required)) return new Map()
  const needed = new Set<unknown>(required)
  const entries = Object.entries(properties).flatMap(([name, each]) => {
    const constants = needed.has(name) ? constantsOf(referred(each, root)) : undefined
    return constants === undefined ? [] : [[name, constants] as const]
  })
  return new Map(entries)
}

const mostReferences = 32

/** The schema that a reference leads to. */
function referred(schema: unknown, root: object): Schema {
  let target = schema
  for (let step = 0; step < mostReferences && isSchema(target) && target['$ref'] !== undefined; step += 1) {
    const path = pathOf(target['$ref'])
    target = path && valueAt(root, path)
  }
  return isSchema(target) && target['$ref'] === undefined ? target : {}
}
