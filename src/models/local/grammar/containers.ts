import { isPlain, plainExcept } from './characters.ts'
import { expression, literal, oneOf, type Expression } from './expression.ts'
import type { Rules } from './rules.ts'
import { countOf, isSchema, placeIn, refusedSchema, type Schema } from './schema.ts'

/** Returns the expression for the values of a schema at a place. */
export type Translate = (schema: unknown, place: string) => Expression

/** The most characters in the names of an object that may have others: a grammar spells out how another name differs. */
const mostSpelled = 1024

interface Property {
  readonly pair: Expression
  readonly isOptional: boolean
}

/**
 * Objects with their properties in the order of the schema. Properties that the schema does not name follow only where
 * `additionalProperties` is present or the schema says nothing of its properties. Throws Problem `invalid_field`.
 */
export function objectsOf(schema: Schema, place: string, rules: Rules, translate: Translate): Expression {
  const { properties: described = {}, required = [], additionalProperties: others } = schema
  if (!isSchema(described)) throw refusedSchema(`${place}.properties`, 'properties that are not an object')
  const needed = namesOf(required, `${place}.required`)
  const otherPlace = `${place}.additionalProperties`
  const undescribed = [...needed].filter((name) => !Object.hasOwn(described, name))
  if (undescribed.length > 0 && others === false) {
    throw refusedSchema(`${place}.required`, 'a property that additionalProperties rules out')
  }

  // Translated once: otherwise each level of such schemas within each other would multiply the work.
  let other: Expression | undefined
  const otherValue = (): Expression => (other ??= translate(others === undefined ? true : others, otherPlace))
  const pairOf = (name: string, value: Expression): Expression =>
    expression(rules.named(`${literal(`${JSON.stringify(name)}:`)} space ${value.text}`), value.width)
  const properties: Property[] = [
    ...Object.entries(described).map(([name, each]) => ({
      pair: pairOf(name, translate(each, placeIn(`${place}.properties`, name))),
      isOptional: !needed.has(name),
    })),
    ...undescribed.map((name) => ({ pair: pairOf(name, otherValue()), isOptional: false })),
  ]
  const names = [...Object.keys(described), ...undescribed]
  const isOpen = schema['properties'] === undefined && names.length === 0
  const hasOthers = others === undefined ? isOpen : others !== false
  if (hasOthers && names.join('').length > mostSpelled) {
    throw refusedSchema(otherPlace, 'additional properties together with long names')
  }
  const otherMember = hasOthers ? otherPair(names, otherValue(), rules) : undefined
  const members = membersOf(properties, otherMember, rules)
  const widths = [...properties.map(({ pair }) => pair.width), otherMember?.width ?? 1, longestChoice(properties) + 1]
  return expression(rules.named(`"{" ${members} "}"`), Math.max(...widths))
}

/** The members of an object, from the last property to the first: a choice of the next property, and what may follow it. */
function membersOf(properties: readonly Property[], other: Expression | undefined, rules: Rules): string {
  let next = other && rules.named(`${other.text} ("," space ${other.text})*`)
  let isNeeded = false
  for (const { pair, isOptional } of properties.toReversed()) {
    const after = followed(next, isNeeded)
    const choices = [`${pair.text}${after}`, ...(isOptional && next !== undefined ? [next] : [])]
    // What follows a property that may be left out has to follow if it is left out.
    next = rules.named(oneOf(choices))
    isNeeded ||= !isOptional
  }
  if (next === undefined) return ''
  return isNeeded ? next : `${next}?`
}

function followed(next: string | undefined, isNeeded: boolean): string {
  if (next === undefined) return ''
  return isNeeded ? ` "," space ${next}` : ` ("," space ${next})?`
}

/** The most optional properties in a row: each can be the next. */
function longestChoice(properties: readonly Property[]): number {
  let [longest, length] = [0, 0]
  for (const { isOptional } of properties) {
    length = isOptional ? length + 1 : 0
    longest = Math.max(longest, length)
  }
  return longest
}

/** A member whose name is none of `names`. Where there are names, the other one has no escapes, which could spell them. */
function otherPair(names: readonly string[], value: Expression, rules: Rules): Expression {
  const key =
    names.length === 0
      ? 'string'
      : `"\\"" ${otherName(
          names.map((name) => Array.from(name)),
          0,
          rules,
        )}`
  return expression(rules.named(`${key} ":" space ${value.text}`), value.width)
}

/** The rest of a name from a place on, with its closing quote, that is none of `names`. These are the same up to there. */
function otherName(names: readonly (readonly string[])[], at: number, rules: Rules): string {
  const longer = names.filter(({ length }) => length > at)
  const branches = Map.groupBy(longer, (name) => name[at] ?? '')
  const isFree = longer.length === names.length
  const other = String.raw`${plainExcept(branches.keys())} plain* "\""`
  const others = branches
    .entries()
    .filter(([next]) => isPlain(next))
    .map(([next, group]) => `${literal(next)} ${otherName(group, at + 1, rules)}`)
  return rules.named(oneOf([...(isFree ? [String.raw`"\""`] : []), ...others, other]))
}

function namesOf(required: unknown, place: string): ReadonlySet<string> {
  const names: readonly unknown[] = Array.isArray(required) ? required : [undefined]
  return new Set(
    names.map((name) => {
      if (typeof name === 'string') return name
      throw refusedSchema(place, 'required properties that are not a list of names')
    }),
  )
}

/** Arrays. Those with `prefixItems` have all of these, and others only where the schema asks for them. Throws Problem `invalid_field`. */
export function arraysOf(schema: Schema, place: string, rules: Rules, translate: Translate): Expression {
  const { prefixItems = [], items } = schema
  if (!Array.isArray(prefixItems)) throw refusedSchema(`${place}.prefixItems`, 'prefixItems that are not a list')
  const prefix: readonly unknown[] = prefixItems
  const { least, most = Infinity } = countOf(schema, 'minItems', 'maxItems', place)
  const rest = items === undefined ? prefix.length === 0 || least > prefix.length : items
  if (rest === false && least > prefix.length) throw refusedSchema(`${place}.minItems`, 'more items than it allows')

  const first = prefix.slice(0, most).map((each, index) => translate(each, `${place}.prefixItems[${index}]`))
  const others = rest === false || most <= first.length ? undefined : translate(rest, `${place}.items`)
  const [fewer, more] = [Math.max(0, least - first.length), most - first.length]
  const all = others === undefined ? listed(first) : withOthers(first, others, fewer, more, rules)
  const widths = [...first.map(({ width }) => width), all.width]
  return expression(rules.named(`"[" ${all.text} "]"`), Math.max(...widths))
}

function listed(items: readonly Expression[]): Expression {
  return expression(items.map(({ text }) => text).join(' "," space '))
}

/** The first items, and from `least` to `most` others after them. */
function withOthers(
  first: readonly Expression[],
  { text, width }: Expression,
  least: number,
  most: number,
  rules: Rules,
): Expression {
  const repeated = (from: number, to: number): Expression =>
    rules.repeated(expression(`"," space ${text}`, width), from, to === Infinity ? undefined : to)
  if (first.length > 0) {
    const others = repeated(least, most)
    return expression(`${listed(first).text} ${others.text}`, others.width)
  }
  const others = repeated(Math.max(0, least - 1), most - 1)
  const all = `${rules.named(text)} ${others.text}`
  return expression(least === 0 ? `(${all})?` : all, others.width)
}
