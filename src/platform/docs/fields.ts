import { at, entriesOf, listOf, textOf } from '../text/json.ts'

/** A field of a JSON object, in words. */
export interface Field {
  readonly name: string
  /** `string, at most 256 characters`; values in backquotes. */
  readonly type: string
  readonly required: boolean
  readonly description: string
  /** The fields of the object, or of each object in the list. */
  readonly fields: readonly Field[]
  readonly isList: boolean
}

/** The fields of an object's schema, in its order. */
export function fieldsOf(schema: unknown): Field[] {
  const required = new Set(listOf(at(schema, 'required')))
  return entriesOf(at(schema, 'properties')).map(([name, inner]) => {
    const main = structured(inner)
    const isList = at(main, 'type') === 'array'
    return {
      name,
      type: typeOf(inner),
      required: required.has(name),
      description: textOf(at(inner, 'description')),
      fields: fieldsOf(isList ? structured(at(main, 'items')) : main),
      isList,
    }
  })
}

/** The alternative that has fields, if there are several. */
function structured(schema: unknown): unknown {
  const found = listOf(at(schema, 'anyOf')).find((choice) => ['array', 'object'].includes(textOf(at(choice, 'type'))))
  return found ?? schema
}

/** The type and the bounds of a value, in words; values in backquotes. */
export function typeOf(schema: unknown): string {
  const values = listOf(at(schema, 'enum'))
  if (values.length > 0) return values.map(shown).join(', ')
  const constant = at(schema, 'const')
  if (constant !== undefined) return shown(constant)
  const choices = listOf(at(schema, 'anyOf'))
  if (choices.length > 0) return choices.map(typeOf).join(' or ')
  const most = at(schema, 'maxItems') ?? at(schema, 'maxProperties')
  const size = most === undefined ? '' : ` (at most ${textOf(most)})`
  if (most === 0) return 'empty list'
  if (at(schema, 'type') === 'array') return `list${size} of ${plural(typeOf(at(schema, 'items')))}`

  const format = at(schema, 'format') === 'uuid' ? ' (UUID)' : ''
  return `${textOf(at(schema, 'type'))}${format}${size}${rangeOf(schema)}`
}

const shown = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``

const plural = (types: string): string => types.replaceAll(/\b(?:object|string|integer|number|boolean)\b/g, '$&s')

function rangeOf(schema: unknown): string {
  const bounds = [
    ['at least', at(schema, 'minimum')],
    ['above', at(schema, 'exclusiveMinimum')],
    ['at most', at(schema, 'maximum')],
    ['at most', at(schema, 'maxLength'), 'characters'],
  ] as const
  return bounds
    .filter(([, bound]) => bound !== undefined)
    .map(([word, bound, unit]) => `, ${word} ${textOf(bound)}${unit === undefined ? '' : ` ${unit}`}`)
    .join('')
}
