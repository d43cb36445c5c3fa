import type { Queryable } from '../platform/database/database.ts'
import type { Price, PriceEntry } from './prices.ts'

/** A price in force or to come; `beginsIn` is in ms by the database's clock, negative for one that is in force. */
export interface PriceRow extends Price {
  readonly model: string
  readonly beginsIn: number
}

export function readCurrentPrices(database: Queryable): Promise<PriceRow[]> {
  return database.rows({
    name: 'current_prices',
    text: `select model, input, output,
             (extract(epoch from valid_from - clock_timestamp()) * 1000)::float8 as "beginsIn"
           from price p
           where not exists (
             select from price later
             where later.model = p.model and later.valid_from > p.valid_from and later.valid_from <= clock_timestamp())
           order by valid_from`,
  })
}

/** Every row, the newest of each model first. */
export function readPriceHistory(database: Queryable): Promise<PriceEntry[]> {
  return database.rows(
    `select model, input, output, valid_from as "validFrom", source,
       case
         when valid_from > clock_timestamp() then 'to come'
         when valid_from = max(valid_from) filter (where valid_from <= clock_timestamp()) over (partition by model)
           then 'in force'
         else 'past'
       end as state
     from price order by model, valid_from desc`,
  )
}

/** Prices as the configuration last had them, with all other instances held off until the transaction ends. */
export async function lockConfiguredPrices(tx: Queryable): Promise<Map<string, Price>> {
  await tx.rows('lock table price in share row exclusive mode')
  const rows = await tx.rows<Price & { model: string }>(
    `select distinct on (model) model, input, output from price where source = 'configuration'
     order by model, valid_from desc`,
  )
  return new Map(rows.map(({ model, input, output }) => [model, { input, output }]))
}

export interface NewPriceRow extends Price {
  readonly model: string
  readonly source: PriceEntry['source']
  /** Now, if absent. */
  readonly validFrom?: Date
}

/** Returns when the price begins; undefined if the model already has a price that begins at that time. */
export async function insertPrice(tx: Queryable, entry: NewPriceRow): Promise<Date | undefined> {
  const [row] = await tx.rows<{ validFrom: Date }>(
    `insert into price (model, valid_from, input, output, source)
     values ($1, coalesce($2, clock_timestamp()), $3, $4, $5) on conflict do nothing returning valid_from as "validFrom"`,
    [entry.model, entry.validFrom ?? null, entry.input, entry.output, entry.source],
  )
  return row?.validFrom
}
