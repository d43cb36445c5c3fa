import { expression, type Expression } from './expression.ts'
import type { Translate } from './objects.ts'
import type { Rules } from './rules.ts'
import { countOf, refusedSchema, type Schema } from './schema.ts'

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
