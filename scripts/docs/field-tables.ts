import {
  chatFields,
  messagesFields,
  responsesFields,
  type FieldRule,
  type FieldTable,
} from '../../src/generation/dialects/field-rules.ts'
import { renderTable } from './table.ts'

/** The tables of other vendors' fields, by the addresses that take them. */
const tables: Readonly<Record<string, FieldTable>> = {
  '/v1/chat/completions': chatFields,
  '/v1/responses': responsesFields,
  '/v1/messages': messagesFields,
}

const introduction = `
Every field of the vendor's API, and what becomes of it ([why](decisions/0021-fields-of-other-apis.md)). _Honoured_: Tollgate does what it says.
_Passed on_: the model does, or the request is refused if it cannot. _Where taken_: passed on to models whose upstream takes it
([which](operating.md#fields-of-a-vendor)), and refused by name for others. _Where priced_: the same, if the [price](operating.md#other-prices-of-vendors) of the model has the value. _No effect_: accepted, because the reply and its price are the same with and
without it. _Refused_: refused by name, except for the values that are the same as leaving it out. Null is accepted everywhere, and a field that is
not listed is refused, unless the operator lets it through to the model.

`

/** The section of an address; empty if it is not another vendor's. */
export function renderFieldTable(address: string): string {
  const table = tables[address]
  if (!table) return ''
  const rows = Object.entries(table).toSorted(byDepth).map(rowOf)
  return `\n### Fields of the vendor\n${introduction}${renderTable(['Field', 'Rule', 'Accepted'], rows)}`
}

type Row = readonly [field: string, rule: FieldRule]

const depthOf = ([field]: Row): number => field.split('.').length

function byDepth(a: Row, b: Row): number {
  return depthOf(a) - depthOf(b) || (a[0] < b[0] ? -1 : 1)
}

function rowOf([field, { rule, neutral }]: Row): string[] {
  return [`\`${field}\``, rule, neutral === undefined ? 'as above' : accepted(neutral)]
}

function accepted(neutral: NonNullable<FieldRule['neutral']>): string {
  if (neutral === 'any value') return 'any value'
  if ('fields' in neutral)
    return Object.entries(neutral.fields)
      .map(([name, each]) => `\`${name}\`: ${accepted(each)}`)
      .join(', ')
  return neutral.length === 0 ? 'nothing' : neutral.map((value) => `\`${JSON.stringify(value)}\``).join(', ')
}
