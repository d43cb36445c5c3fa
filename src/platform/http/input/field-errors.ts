import { Value } from 'typebox/value'
import type { TSchema } from 'typebox'
import { closest } from '../../text/closest.ts'
import { hiddenIn, isBlank } from '../../text/one-line.ts'

/** An invalid field. The reason never quotes the caller's text. */
export interface FieldError {
  readonly code: 'missing_field' | 'unknown_field' | 'invalid_field'
  readonly reason: string
  readonly field: string
}

/** Our name for each field name of other APIs, in lower case. */
export type Synonyms = Readonly<Record<string, string>>

/** The JSON Schema keywords that our schemas use. */
interface Shape {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: string | number | boolean
  readonly anyOf?: readonly TSchema[]
  readonly format?: string
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | TSchema
  readonly propertyNames?: TSchema
  readonly maxProperties?: number
  readonly items?: TSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}

/**
 * Explains why an invalid `value` fails `schema`. Missing fields come first, then unknown ones, then invalid ones. But an
 * unknown name that resembles a missing field is reported as a typo of it.
 */
export function findFieldError(schema: TSchema, value: unknown, path: string, synonyms: Synonyms = {}): FieldError {
  const shape: Shape = { ...schema }
  const tooLong = findLengthError(shape, value, path)
  if (tooLong) return tooLong
  if (shape.type === 'object' && isRecord(value)) return findObjectError(shape, value, path, synonyms)
  if (shape.type === 'array' && Array.isArray(value)) return findListError(shape, value, path)
  const meant = shape.anyOf?.find((each) => isOfType({ ...each }, value))
  if (meant !== undefined) return findFieldError(meant, value, path)
  return invalid(path, mustBe(shape), whatIs(shape, value))
}

function findObjectError(
  shape: Shape,
  value: Readonly<Record<string, unknown>>,
  path: string,
  synonyms: Synonyms,
): FieldError {
  const known = shape.properties ?? {}
  const names = Object.keys(value)
  const unknown = names.filter((name) => !Object.hasOwn(known, name))
  return (
    findNameError(shape, unknown, value, path, synonyms) ??
    findEntryError(Object.entries(known), value, path) ??
    findEntryError(
      unknown.map((name) => [name, extraSchema(shape)]),
      value,
      path,
    ) ??
    invalid(path, `an object whose every field name is ${mustBe({ ...shape.propertyNames })}`, 'has another')
  )
}

/** A body can have a hundred thousand unknown fields; only the first ones are compared with the known names. */
const mostCompared = 16

function findNameError(
  shape: Shape,
  unknown: readonly string[],
  value: Readonly<Record<string, unknown>>,
  path: string,
  synonyms: Synonyms,
): FieldError | undefined {
  const known = shape.properties ?? {}
  const strangers = shape.additionalProperties === false ? unknown.slice(0, mostCompared) : []
  const missing = (shape.required ?? []).filter((name) => !Object.hasOwn(value, name))
  const candidates = Object.keys(known).filter((name) => !Object.hasOwn(value, name))
  const typo = strangers.find((name) => missing.includes(nearest(name, candidates, synonyms) ?? ''))
  const [absent] = missing
  const [stranger] = strangers
  if (typo !== undefined) return unknownField(typo, candidates, path, synonyms)
  if (absent !== undefined) return missingField(absent, known, path)
  return stranger === undefined ? undefined : unknownField(stranger, candidates, path, synonyms)
}

function findEntryError(
  entries: readonly (readonly [string, TSchema])[],
  value: Readonly<Record<string, unknown>>,
  path: string,
): FieldError | undefined {
  for (const [name, schema] of entries) {
    const error = Object.hasOwn(value, name) ? findError(schema, value[name], shownPath(path, name)) : undefined
    if (error) return error
  }
  return undefined
}

/** Undefined if the value is valid. Compares the lengths first: validating a list that is far too long is slow. */
function findError(schema: TSchema, value: unknown, path: string): FieldError | undefined {
  const tooLong = findLengthError({ ...schema }, value, path)
  if (tooLong) return tooLong
  return Value.Check(schema, value) ? undefined : findFieldError(schema, value, path)
}

function findLengthError(shape: Shape, value: unknown, path: string): FieldError | undefined {
  const { maxItems = Infinity, maxProperties = Infinity } = shape
  if (Array.isArray(value)) {
    return value.length > maxItems ? invalid(path, mustBe(shape), `has ${value.length}`) : undefined
  }
  const count = maxProperties < Infinity && isRecord(value) ? Object.keys(value).length : 0
  return count > maxProperties
    ? invalid(path, `an object of at most ${maxProperties} fields`, `has ${count}`)
    : undefined
}

function extraSchema(shape: Shape): TSchema {
  return typeof shape.additionalProperties === 'object' ? shape.additionalProperties : {}
}

function findListError(shape: Shape, list: readonly unknown[], path: string): FieldError {
  const { items } = shape
  for (const [index, each] of items ? list.entries() : []) {
    const error = items && findError(items, each, `${path}[${index}]`)
    if (error) return error
  }
  return invalid(path, mustBe(shape), `has ${list.length}`)
}

/** A longer name resembles none of ours, and a name can be a megabyte. */
const longestResembling = 64

/** The field that an unknown name most likely means: `imput` is `input`, `maxTokens` is short for `max_output_tokens`. */
function nearest(name: string, candidates: readonly string[], synonyms: Synonyms): string | undefined {
  if (name.length > longestResembling) return undefined
  const snake = name.replace(/([a-z])([A-Z])/g, '$1_$2').toLowerCase()
  const synonym = Object.hasOwn(synonyms, snake) ? synonyms[snake] : undefined
  if (synonym !== undefined && candidates.includes(synonym)) return synonym
  const words = snake.split(/[^a-z]+/)
  const longer = (candidate: string) => words.length > 1 && words.every((word) => candidate.split('_').includes(word))
  return closest(snake, candidates) ?? candidates.find(longer)
}

function missingField(name: string, known: Readonly<Record<string, TSchema>>, path: string): FieldError {
  const field = shownPath(path, name)
  return {
    code: 'missing_field',
    field,
    reason: `The field ${field} is missing; it must be ${mustBe({ ...known[name] })}.`,
  }
}

function unknownField(name: string, candidates: readonly string[], path: string, synonyms: Synonyms): FieldError {
  const field = shownPath(path, name)
  const meant = nearest(name, candidates, synonyms)
  const advice = meant === undefined ? 'Leave it out.' : `Did you mean ${shownPath(path, meant)}?`
  return { code: 'unknown_field', field, reason: `There is no field ${field}. ${advice}` }
}

function invalid(field: string, wanted: string, found: string): FieldError {
  return { code: 'invalid_field', field, reason: `The field ${field} must be ${wanted}, but ${found}.` }
}

/** Names come from the caller: unusual characters are replaced, and a long name, which may be a secret, is cut. */
export function shownPath(path: string, name: string): string {
  const short = name.length > 40 ? `${name.slice(0, 12)}...` : name
  const plain = short.replace(/[^\w.-]/g, '?')
  return path === '' ? plain : `${path}.${plain}`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a caller can have meant this alternative: one with the value's type. */
function isOfType({ type }: Shape, value: unknown): boolean {
  if (type === 'array' || type === 'object')
    return Array.isArray(value) === (type === 'array') && typeof value === 'object'
  return type === 'integer' ? typeof value === 'number' : typeof value === type
}

function mustBe(shape: Shape): string {
  if (shape.anyOf !== undefined) return either(shape.anyOf.map((each) => mustBe({ ...each })))
  if (shape.enum !== undefined) return either(shape.enum.map(String))
  if (shape.const !== undefined) return String(shape.const)
  switch (shape.type) {
    case 'string':
      return stringMustBe(shape)
    case 'integer':
      return `an integer${range(shape)}`
    case 'number':
      return `a number${range(shape)}`
    case 'boolean':
      return 'true or false'
    case 'array':
      return `a list${lengthOf(shape)}`
    case 'null':
      return 'null'
    default:
      return 'an object'
  }
}

function lengthOf({ minItems = 0, maxItems }: Shape): string {
  if (minItems > 0) return maxItems === undefined ? ` of at least ${minItems}` : ` of ${minItems} to ${maxItems}`
  return maxItems === undefined ? '' : ` of at most ${maxItems}`
}

function either(choices: readonly string[]): string {
  const last = choices.at(-1) ?? ''
  return choices.length < 2 ? last : `${choices.slice(0, -1).join(', ')} or ${last}`
}

/** Complete descriptions of formats. */
const formats = new Map([
  ['uuid', 'a UUID'],
  ['date', 'a date such as 2026-03-12'],
  ['page-size', 'a whole number from 1 to 200'],
  ['row-number', 'the `next` of the previous page'],
])

function stringMustBe({ format, minLength, maxLength }: Shape): string {
  const description = formats.get(format ?? '')
  if (description !== undefined) return description
  const filled = format === 'filled-text' ? ' that is not blank' : ''
  const length = maxLength === undefined ? '' : ` of at most ${maxLength} characters`
  if (format === 'line') return `one line of text${length}`
  return `a ${minLength === undefined || minLength === 0 ? '' : 'non-empty '}string${length}${filled}`
}

function range({ minimum, exclusiveMinimum, maximum }: Shape): string {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  if (exclusiveMinimum !== undefined && maximum !== undefined) return ` above ${exclusiveMinimum}, at most ${maximum}`
  return ''
}

function whatIs(shape: Shape, value: unknown): string {
  if (value === null) return 'is null'
  if (Array.isArray(value)) return 'is a list'
  const isChoice = shape.enum !== undefined || shape.const !== undefined
  if (typeof value === 'number') return `is ${shape.type === 'string' || isChoice ? 'a number' : value}`
  if (typeof value === 'string') return shape.type === 'string' || isChoice ? textIs(shape, value) : 'is a string'
  if (typeof value === 'boolean') return isChoice ? `is ${value}` : 'is true or false'
  return 'is an object'
}

function textIs(shape: Shape, text: string): string {
  if (text === '') return 'is empty'
  if (text.includes('\0')) return 'has a NUL character'
  if (!text.isWellFormed()) return 'has an unpaired surrogate, which is not valid Unicode'
  if (shape.maxLength !== undefined && text.length > shape.maxLength) return `has ${text.length}`
  if (shape.format === 'line') return lineIs(text)
  return shape.format === 'filled-text' ? 'is blank' : 'is something else'
}

function lineIs(text: string): string {
  const hidden = hiddenIn(text)
  if (hidden !== undefined) return `has ${hidden}`
  return isBlank(text) ? 'is blank' : 'is something else'
}
