import type { ReplyFormat } from '../conversation.ts'
import { primitives, quote } from './grammar-text.ts'
import { areDistinct, choiceOf, isSchema, refusedSchema, type Schema } from './schema.ts'
import { countOf, integerOf, numberOf, stringOf } from './schema-scalars.ts'

/**
 * The grammar (GBNF of llama.cpp) whose texts are the JSON that a format allows, with at most one space after a colon or a
 * comma. An object has its properties in the order of the schema, and none that the schema does not name. Throws Problem
 * `invalid_field` for a schema that a grammar cannot enforce. No keyword is ignored unless it only describes.
 */
export function grammarOf(format: ReplyFormat): string {
  if (format.kind === 'json') return primitives('object')
  const text = rulesOf(format.schema, format.field).join('\n')
  if (text.length <= mostLength) return text
  throw refusedSchema(format.field, 'a schema of this size')
}

/** Characters. Compiling a grammar of this size takes a few milliseconds. */
const mostLength = 128 * 1024
/** Keywords that describe and require nothing. `format` is one of them, by default, since JSON Schema 2019-09. */
const descriptions = ['title', 'description', 'default', 'examples', 'deprecated', 'readOnly', 'writeOnly', 'format']
const annotations: ReadonlySet<string> = new Set([
  ...descriptions,
  '$comment',
  '$schema',
  '$id',
  '$defs',
  'definitions',
])

const keywords: ReadonlyMap<string, readonly string[]> = new Map([
  ['object', ['properties', 'required', 'additionalProperties']],
  ['array', ['items', 'minItems', 'maxItems']],
  ['string', ['minLength', 'maxLength']],
  ['integer', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
  ['number', ['minimum']],
  ['boolean', []],
  ['null', []],
])

/** The rules of a schema. */
function rulesOf(root: object, field: string): string[] {
  const rules: string[] = []
  /** The rules of the references that were met, by pointer. */
  const referred = new Map<string, string>()

  function define(body: string): string {
    const name = `r${rules.length}`
    rules.push(`${name} ::= ${body}`)
    return name
  }

  /** An expression for the values of a schema at a place. */
  function values(schema: unknown, place: string): string {
    if (schema === true || (isSchema(schema) && Object.keys(schema).every((name) => annotations.has(name))))
      return 'value'
    if (!isSchema(schema)) throw refusedSchema(place, 'something other than a JSON schema')
    const asked = Object.keys(schema).filter((name) => !annotations.has(name))
    const alone = (name: string) => {
      const other = asked.find((each) => each !== name && !(each === 'type' && (name === 'const' || name === 'enum')))
      if (other !== undefined) throw refusedSchema(`${place}.${other}`, `${other} beside ${name}`)
    }
    for (const name of ['$ref', 'const', 'enum', 'anyOf', 'oneOf', 'allOf'] as const) {
      if (schema[name] === undefined) continue
      alone(name)
      return combined(name, schema, place)
    }
    const types = typesOf(schema, place)
    const known = new Set(['type', ...types.flatMap((type) => keywords.get(type) ?? [])])
    const unknown = asked.find((name) => !known.has(name))
    if (unknown !== undefined) throw refusedSchema(`${place}.${unknown}`, `the keyword ${unknown}`)
    return choiceOf(types.map((type) => ofType(type, schema, place)))
  }

  function combined(
    name: '$ref' | 'const' | 'enum' | 'anyOf' | 'oneOf' | 'allOf',
    schema: Schema,
    place: string,
  ): string {
    const value = schema[name]
    const isOfType = typeTest(schema)
    if (name === 'const' && isOfType(value)) return literal(value)
    if (name === '$ref') return reference(value, place)
    if (name === 'const' || !Array.isArray(value) || value.length === 0)
      throw refusedSchema(`${place}.${name}`, 'values that do not fit it')
    const list: readonly unknown[] = value
    if (name === 'enum' && list.every(isOfType)) return choiceOf(list.map(literal))
    if (name === 'enum') throw refusedSchema(`${place}.enum`, 'a value of another type')
    if (name === 'allOf' && list.length > 1) throw refusedSchema(`${place}.allOf`, 'several schemas at once')
    if (name === 'oneOf' && !areDistinct(list))
      throw refusedSchema(`${place}.oneOf`, 'oneOf with schemas that can overlap (use anyOf)')
    return choiceOf(list.map((each, index) => values(each, `${place}.${name}[${index}]`)))
  }

  function reference(pointer: unknown, place: string): string {
    if (typeof pointer !== 'string') throw refusedSchema(`${place}.$ref`, 'a reference that is not a text')
    const known = referred.get(pointer)
    if (known !== undefined) return known
    const target = targetOf(root, pointer)
    if (target === undefined) throw refusedSchema(`${place}.$ref`, 'a reference that leads nowhere')
    const name = `ref${referred.size}`
    referred.set(pointer, name)
    rules.push(`${name} ::= ${values(target, place)}`)
    return name
  }

  function ofType(type: string, schema: Schema, place: string): string {
    switch (type) {
      case 'object':
        return object(schema, place)
      case 'array':
        return array(schema, place)
      case 'string':
        return stringOf(schema, place)
      case 'integer':
        return integerOf(schema, place)
      case 'number':
        return numberOf(schema, place)
      default:
        return type
    }
  }

  function object(schema: Schema, place: string): string {
    const { properties = {}, required = [], additionalProperties = true } = schema
    if (!isSchema(properties) || !Array.isArray(required))
      throw refusedSchema(place, 'properties that are not an object')
    const needed = new Set<unknown>(required)
    const undescribed = [...needed].flatMap((name) =>
      typeof name === 'string' && !Object.hasOwn(properties, name) ? [[name, additionalProperties] as const] : [],
    )
    const all = [...Object.entries(properties), ...undescribed]
    if (all.length === 0) return additionalProperties === false ? '"{}"' : map(additionalProperties, place)
    // From the last to the first: what may follow once a property has been written, and while none has been.
    let later = '""'
    let first = '""'
    for (const [name, each] of all.toReversed()) {
      const at = `${place}.properties.${name}`
      const pair = define(`${quote(`${JSON.stringify(name)}:`)} space ${values(each, at)}`)
      const after = later
      const isOptional = !needed.has(name)
      first = define(`${pair} ${after}${isOptional ? ` | ${first}` : ''}`)
      later = define(`"," space ${pair} ${after}${isOptional ? ` | ${after}` : ''}`)
    }
    return `"{" ${first} "}"`
  }

  function map(schema: unknown, place: string): string {
    const pair = define(`string ":" space ${values(schema, `${place}.additionalProperties`)}`)
    return `"{" (${pair} ("," space ${pair})*)? "}"`
  }

  function array({ items = true, minItems, maxItems }: Schema, place: string): string {
    const least = countOf(minItems, 0, `${place}.minItems`)
    const most = maxItems === undefined ? undefined : countOf(maxItems, 0, `${place}.maxItems`)
    if (most !== undefined && most < least) throw refusedSchema(`${place}.maxItems`, 'less than minItems')
    if (most === 0) return '"[]"'
    const item = define(values(items, `${place}.items`))
    const rest = `("," space ${item}){${Math.max(0, least - 1)},${most === undefined ? '' : most - 1}}`
    return least === 0 ? `"[" (${item} ${rest})? "]"` : `"[" ${item} ${rest} "]"`
  }

  const body = values(root, field)
  return [`root ::= ${body}`, ...rules, primitives()]
}

/** Whether a constant has the type that the schema also asks for. */
function typeTest({ type }: Schema): (value: unknown) => boolean {
  if (type === undefined) return () => true
  const types: readonly unknown[] = Array.isArray(type) ? type : [type]
  return (value) => types.includes(typeOf(value)) || (types.includes('integer') && Number.isInteger(value))
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function typesOf({ type, properties, items }: Schema, place: string): readonly string[] {
  const inferred = properties === undefined ? 'array' : 'object'
  const list: readonly unknown[] = Array.isArray(type) ? type : [type ?? ((properties ?? items) ? inferred : undefined)]
  return list.map((each) => {
    if (typeof each === 'string' && keywords.has(each)) return each
    throw refusedSchema(`${place}.type`, each === undefined ? 'a schema without a type' : 'an unknown type')
  })
}

const literal = (value: unknown): string => quote(JSON.stringify(value))

/** The value at a JSON pointer in a URI fragment (RFC 6901, section 6). */
function targetOf(root: object, pointer: string): unknown {
  if (pointer === '#') return root
  if (!pointer.startsWith('#/')) return undefined
  let target: unknown = root
  for (const part of pointer.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) return undefined
    target = Reflect.get(target, name)
  }
  return target
}
