import type { Queryable } from '../../platform/database/database.ts'
import type { Price, PriceEntry } from './price.ts'
import { storedRules } from './read-rules.ts'
import type { PriceRules } from './rules.ts'
import { writtenRules } from './written-rules.ts'

/** A price in force or scheduled. `beginsIn` is in ms by the database's clock, and not positive for a price in force. */
export interface PriceRow extends Price {
  readonly model: string
  readonly beginsIn: number
}

const tokenPrices = `input, output, cached_input as "cachedInput", cache_write as "cacheWrite"`
const columns = `${tokenPrices}, rules, number`

/** Only a scheduled price waits for the clock: any other has been in force since it was inserted. */
const inForce = (price: string): string => `(not ${price}.scheduled or ${price}.valid_from <= clock_timestamp())`

/** A row with its rules as they are written. */
type Written<Row extends Price> = Omit<Row, 'rules'> & { readonly rules: unknown }

const withRules = ({ rules, ...row }: Written<Price>): Price => ({
  ...row,
  rules: rules === null ? null : storedRules(rules),
})

/** The rules of a price never change: `known` has those that were read before, by its number. */
export async function readCurrentPrices(
  database: Queryable,
  known: ReadonlyMap<bigint, PriceRules>,
): Promise<PriceRow[]> {
  const rows = await database.rows<Written<PriceRow> & { readonly number: bigint }>({
    name: 'current_prices',
    text: `select model, ${tokenPrices}, number,
             case when number <> all ($1) then rules end as rules, case when ${inForce('p')} then 0
             else (extract(epoch from valid_from - clock_timestamp()) * 1000)::float8 end as "beginsIn"
           from price p
           where not exists (
             select from price later
             where later.model = p.model and later.valid_from > p.valid_from and ${inForce('later')})
           order by valid_from`,
    values: [[...known.keys()]],
  })
  return rows.map(({ model, beginsIn, ...price }) => {
    const rules = known.get(price.number)
    return { ...(rules ? { ...price, rules } : withRules(price)), model, beginsIn }
  })
}

/** Every row, the newest of each model first. */
export async function readPriceHistory(database: Queryable): Promise<PriceEntry[]> {
  const rows = await database.rows<Written<PriceEntry>>(
    `select model, ${columns}, valid_from as "validFrom", source,
       case
         when not ${inForce('p')} then 'to come'
         when valid_from = max(valid_from) filter (where ${inForce('p')}) over (partition by model) then 'in force'
         else 'past'
       end as state
     from price p order by model, valid_from desc`,
  )
  return rows.map(({ model, validFrom, source, state, ...price }) => ({
    ...withRules(price),
    model,
    validFrom,
    source,
    state,
  }))
}

/**
 * The prices most recently taken from the configuration. Other callers wait until the transaction ends. An advisory lock, because before
 * PostgreSQL 16 a table lock needs the right to update, and nobody has that on an append-only table.
 */
export async function lockConfiguredPrices(tx: Queryable): Promise<Map<string, Price>> {
  await tx.rows(`select pg_advisory_xact_lock(hashtext('configured prices'))`)
  const rows = await tx.rows<Written<Price & { model: string }>>(
    `select distinct on (model) model, ${columns} from price where source = 'configuration'
     order by model, valid_from desc`,
  )
  return new Map(rows.map(({ model, ...price }) => [model, withRules(price)]))
}

export interface NewPriceRow extends Price {
  readonly model: string
  readonly source: PriceEntry['source']
  /** When a scheduled price begins. Without it the price is in force at once. */
  readonly validFrom?: Date
}

/**
 * When a price with the same parts began, if it is in force now or, for a price with a beginning, begins at that time. Undefined
 * otherwise.
 */
export async function beginningOfEqualPrice(tx: Queryable, entry: NewPriceRow): Promise<Date | undefined> {
  const [row] = await tx.rows<{ validFrom: Date; isEqual: boolean }>(
    `select valid_from as "validFrom", (input, output) = ($3::bigint, $4::bigint)
       and (cached_input, cache_write, rules) is not distinct from ($5::bigint, $6::bigint, $7::jsonb) as "isEqual"
     from price p
     where model = $1 and case when $2::timestamptz is null then ${inForce('p')} else valid_from = $2 end
     order by valid_from desc limit 1`,
    [
      entry.model,
      entry.validFrom ?? null,
      entry.input,
      entry.output,
      entry.cachedInput ?? null,
      entry.cacheWrite ?? null,
      rulesText(entry),
    ],
  )
  return row?.isEqual === true ? row.validFrom : undefined
}

/**
 * Returns when the price begins, or undefined if the model has a price that begins at the same time. A price in force at
 * once begins after every other one that is in force, also when the clock has been set back.
 */
export async function insertPrice(tx: Queryable, entry: NewPriceRow): Promise<Date | undefined> {
  const [row] = await tx.rows<{ validFrom: Date }>(
    `insert into price (model, valid_from, scheduled, input, output, cached_input, cache_write, source, rules)
     select $1, coalesce($2, greatest(clock_timestamp(), max(p.valid_from) + interval '1 microsecond')),
       $2::timestamptz is not null, $3, $4, $6, $7, $5, $8
     from price p where p.model = $1 and ${inForce('p')}
     on conflict do nothing returning valid_from as "validFrom"`,
    [
      entry.model,
      entry.validFrom ?? null,
      entry.input,
      entry.output,
      entry.source,
      entry.cachedInput,
      entry.cacheWrite,
      rulesText(entry),
    ],
  )
  return row?.validFrom
}

const rulesText = ({ rules }: NewPriceRow): string | null =>
  (rules ?? null) === null ? null : JSON.stringify(writtenRules(rules))
