import { isDeepStrictEqual } from 'node:util'
import { Problem } from '../../platform/problems.ts'

export type Schema = Readonly<Record<string, unknown>>

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Problem `invalid_field` for a part of a schema that a grammar cannot enforce. */
export function refusedSchema(field: string, what: string): Problem {
  return new Problem('invalid_field', `The field ${field} asks for ${what}, which a local model does not support.`, {
    field,
  })
}

/** An expression for any of the choices. */
export const choiceOf = (choices: readonly string[]): string =>
  choices.length === 1 ? `${choices[0]}` : `(${choices.join(' | ')})`

/** Whether no value fits two of the schemas: they have different types, or a property whose constant tells them apart. */
export function areDistinct(list: readonly unknown[]): boolean {
  return list.every((one, at) => list.slice(at + 1).every((other) => differ(one, other)))
}

function differ(one: unknown, other: unknown): boolean {
  if (!isSchema(one) || !isSchema(other)) return false
  const [kind, otherKind] = [one['type'], other['type']]
  if (typeof kind !== 'string' || typeof otherKind !== 'string') return false
  const numbers = ['integer', 'number']
  if (kind !== otherKind) return !(numbers.includes(kind) && numbers.includes(otherKind))
  const [constants, others] = [requiredConstants(one), requiredConstants(other)]
  return [...constants].some(([name, value]) => others.has(name) && !isDeepStrictEqual(value, others.get(name)))
}

function requiredConstants({ properties, required }: Schema): ReadonlyMap<string, unknown> {
  if (!isSchema(properties) || !Array.isArray(required)) return new Map()
  const needed: readonly unknown[] = required
  const constants = Object.entries(properties).flatMap(([name, each]) => {
    if (!needed.includes(name) || !isSchema(each)) return []
    const { const: constant, enum: values } = each
    if (constant !== undefined) return [[name, constant] as const]
    return Array.isArray(values) && values.length === 1 ? [[name, values[0]] as const] : []
  })
  return new Map(constants)
}
