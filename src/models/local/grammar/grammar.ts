import { isDeepStrictEqual } from 'node:util'
import type { Problem } from '../../../platform/problems.ts'
import type { ReplyFormat, Tool } from '../../conversation.ts'
import { areDistinct, jsonTypeOf } from './distinct.ts'
import { choiceOf, expression, literal, literalsOf, oneOf, type Expression } from './expression.ts'
import { integersOf, numbersOf, stringsOf } from './scalars.ts'
import { arraysOf, objectsOf, type Translate } from './containers.ts'
import { createRules, type Rules } from './rules.ts'
import { isSchema, pathOf, placeIn, refusedSchema, valueAt, type Schema } from './schema.ts'

/** The most places of a grammar, and the most ways to read a beginning. */
const mostPlaces = 128 * 1024
const mostWidth = 128

/**
 * The grammar in GBNF whose texts are the JSON that a format allows: every text follows the schema, but not every way to
 * write a value is a text. Throws Problem `invalid_field` for a schema that a grammar cannot enforce. No keyword is ignored
 * unless it only describes.
 */
export function grammarOf(format: ReplyFormat): string {
  if (format.kind === 'json')
    return createRules(mostPlaces, () => new Error('the rules of JSON are too long')).grammar('object')
  const { schema, field } = format
  const rules = createRules(mostPlaces, () => refusedSchema(field, 'a schema of this size'))
  const { text, width } = createTranslator(schema, field, rules)(schema, field)
  if (width > mostWidth) throw tooWide(field)
  return rules.grammar(text)
}

/**
 * The grammar of a call of one of the tools: its arguments, after its name and a space if there are several. No name has a
 * space, so only one tool is left after it. Throws as `grammarOf`.
 */
export function grammarOfCall(tools: readonly Tool[]): string {
  const [only] = tools
  const field = tools.length === 1 && only ? only.field : 'tools'
  const rules = createRules(mostPlaces, () => refusedSchema(field, 'a schema of this size'))
  const calls = tools.map((tool) => {
    const { text, width } = createTranslator(tool.parameters, tool.field, rules)(tool.parameters, tool.field)
    if (width > mostWidth) throw tooWide(tool.field)
    return tool === only && tools.length === 1 ? text : `${literal(`${tool.name} `)} ${text}`
  })
  return rules.grammar(oneOf(calls))
}

const tooWide = (place: string): Problem => refusedSchema(place, `more than ${mostWidth} choices at one place`)

/** Keywords that require nothing. */
const annotations: ReadonlySet<string> = new Set([
  '$comment',
  '$defs',
  '$id',
  '$schema',
  'default',
  'definitions',
  'deprecated',
  'description',
  'discriminator',
  'examples',
  'readOnly',
  'title',
  'writeOnly',
])
/** Keywords that describe a value alone. Only annotations are supported next to them, and `type` next to constants. */
const singles = ['$ref', 'const', 'enum', 'anyOf', 'oneOf', 'allOf'] as const

const keywordsOf: ReadonlyMap<string, readonly string[]> = new Map([
  ['object', ['properties', 'required', 'additionalProperties']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems']],
  ['string', ['minLength', 'maxLength', 'format']],
  ['integer', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum']],
  ['boolean', []],
  ['null', []],
])

/** The function that translates the parts of a schema, which `field` names. */
function createTranslator(root: object, field: string, rules: Rules): Translate {
  /** By the schema referred to; undefined while it is being translated. */
  const referred = new Map<unknown, Expression | undefined>()

  function translate(schema: unknown, place: string): Expression {
    if (schema === true) return expression('value')
    if (!isSchema(schema)) throw refusedSchema(place, 'something other than a JSON schema')
    if (schema['$id'] !== undefined && schema !== root) throw refusedSchema(`${place}.$id`, '$id within a schema')
    const asked = Object.keys(schema).filter((name) => !annotations.has(name))
    if (asked.length === 0) return expression('value')
    const single = singles.find((name) => Object.hasOwn(schema, name))
    if (single === undefined) return ofTypes(schema, asked, place)
    const isBeside = (name: string): boolean => name === 'type' && (single === 'const' || single === 'enum')
    const other = asked.find((name) => name !== single && !isBeside(name))
    if (other !== undefined) throw refusedKeyword(other, place, ` beside ${single}`)
    if (single === '$ref') return reference(schema[single], `${place}.$ref`)
    if (single === 'const' || single === 'enum') return constants(schema, single, `${place}.${single}`)
    return combined(single, schema[single], `${place}.${single}`)
  }

  function ofTypes(schema: Schema, asked: readonly string[], place: string): Expression {
    const types = typesOf(schema, asked, `${place}.type`)
    const known = new Set(['type', ...types.flatMap((type) => keywordsOf.get(type) ?? [])])
    const unknown = asked.find((name) => !known.has(name))
    if (unknown !== undefined) throw refusedKeyword(unknown, place)
    return choiceOf(types.map((type) => ofType(type, schema, place)))
  }

  function ofType(type: string, schema: Schema, place: string): Expression {
    switch (type) {
      case 'object':
        return objectsOf(schema, place, rules, translate)
      case 'array':
        return arraysOf(schema, place, rules, translate)
      case 'string':
        return stringsOf(schema, place, rules)
      case 'integer':
        return integersOf(schema, place)
      case 'number':
        return numbersOf(schema, place)
      default:
        return expression(type)
    }
  }

  function reference(pointer: unknown, place: string): Expression {
    const path = pathOf(pointer)
    const target = path && valueAt(root, path)
    if (!path || target === undefined) throw refusedSchema(place, 'a dangling reference')
    const known = referred.get(target)
    if (known !== undefined) return known
    if (referred.has(target)) throw refusedSchema(place, 'a recursive reference')
    referred.set(target, undefined)
    const { text, width } = translate(target, path.reduce(placeIn, field))
    const named = expression(rules.named(text), width)
    referred.set(target, named)
    return named
  }

  function combined(name: 'anyOf' | 'oneOf' | 'allOf', value: unknown, place: string): Expression {
    const list: readonly unknown[] = Array.isArray(value) ? value : []
    if (list.length === 0) throw refusedSchema(place, 'something other than a list of schemas')
    if (list.length > mostWidth) throw tooWide(place)
    if (name === 'allOf' && list.length > 1) throw refusedSchema(place, 'several schemas')
    if (name === 'oneOf' && !areDistinct(list, root, rules.work)) {
      throw refusedSchema(place, 'oneOf with schemas that can overlap (use anyOf)')
    }
    return choiceOf(list.map((each, index) => translate(each, `${place}[${index}]`)))
  }

  return translate
}

function constants(schema: Schema, name: 'const' | 'enum', place: string): Expression {
  const list: unknown = name === 'const' ? [schema[name]] : schema[name]
  if (!Array.isArray(list) || list.length === 0) throw refusedSchema(place, 'something other than a list of values')
  const types = schema['type'] === undefined ? undefined : typesOf(schema, [], place)
  const isOfType = (value: unknown): boolean =>
    !types || types.includes(jsonTypeOf(value)) || (types.includes('integer') && Number.isInteger(value))
  if (!list.every(isOfType)) throw refusedSchema(place, 'a value of another type')
  if (isDeepStrictEqual(JSON.parse(JSON.stringify(list)), list)) return literalsOf(list)
  throw refusedSchema(place, 'a number that JSON cannot represent')
}

/** The types that a schema names. One that names none has the types to which its keywords apply. */
function typesOf({ type }: Schema, asked: readonly string[], place: string): readonly string[] {
  const implied = [...keywordsOf].flatMap(([name, names]) => (names.some((each) => asked.includes(each)) ? [name] : []))
  const list: readonly unknown[] = type === undefined ? implied : [type].flat()
  if (type !== undefined && list.length === 0) throw refusedSchema(place, 'an empty list of types')
  const types = list.map((each) => {
    if (typeof each === 'string' && keywordsOf.has(each)) return each
    throw refusedSchema(place, 'an unknown type')
  })
  // Every integer is a number. Two ways to write it would only cost time.
  return [...new Set(types)].filter((each) => each !== 'integer' || !types.includes('number'))
}

function refusedKeyword(keyword: string, place: string, where = ''): Problem {
  const what = /^[$\w]{1,40}$/.test(keyword) ? `the keyword ${keyword}` : 'an unknown keyword'
  return refusedSchema(placeIn(place, keyword), what + where)
}
