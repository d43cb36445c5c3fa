import { TypeOverrides } from 'pg'

/** Converts int8 and whole numerics to bigint, dates to text, and arrays of them likewise. */
export const valueTypes = new TypeOverrides()

// Oids of the type and its array. By default the driver converts numeric[] to floats and date to local time.
const int8 = { one: 20, many: 1016 }
const numeric = { one: 1700, many: 1231 }
const date = { one: 1082, many: 1182 }

for (const { one, many } of [int8, numeric]) {
  valueTypes.setTypeParser(one, BigInt)
  valueTypes.setTypeParser(many, (text) => listOf(text, BigInt))
}
valueTypes.setTypeParser(date.one, (text) => text)
valueTypes.setTypeParser(date.many, (text) => listOf(text, (item) => item))

function listOf<T>(text: string, parse: (item: string) => T): (T | null)[] {
  if (text === '{}') return []
  const items = text.slice(1, -1).split(',')
  return items.map((item) => (item === 'NULL' ? null : parse(item)))
}
