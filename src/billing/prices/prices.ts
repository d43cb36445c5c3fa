import type { Logger } from 'pino'
import { byService, type Visit } from '../../access/actor.ts'
import { recordWithin } from '../../access/audit/audit.ts'
import type { ModelKind } from '../../platform/config/config.ts'
import type { Database, Queryable } from '../../platform/database/database.ts'
import { Problem } from '../../platform/problems.ts'
import { repeat } from '../../platform/flow/repeat.ts'
import { writtenTokenPrices } from './money.ts'
import { writtenRules } from './written-rules.ts'
import { priceFaults } from './price-rule.ts'
import { isSamePrice, mostCostOf, type Price, type PriceEntry } from './price.ts'
import type { PriceRules } from './rules.ts'
import * as store from './store.ts'

export { mostCostOf, type Price, type PriceEntry }

export interface Prices {
  /**
   * The price in force, as read at most half a second ago, or the last one read while the database is away. Undefined if
   * the model has no price and cannot be called, and for all models before the first `sync` or `refresh`.
   */
  of(model: string): Price | undefined
  /**
   * Writes the configured prices that changed since the last call. A price set by command or in the portal stays in force
   * until the configured one changes. Instances that start at the same time write a change once.
   */
  sync(configured: ReadonlyMap<string, Price>): Promise<void>
  /**
   * Sets a price that begins now or later. Returns when it begins. Setting a price that is already in force, or already
   * begins at that time, changes nothing, so that repeating a request whose response was lost makes no second one. Throws Problem `invalid_field`.
   */
  set(model: string, price: Price, by: Visit, validFrom?: Date, kind?: ModelKind): Promise<Date>
  /** Sets the prices of several models as `set` does: all of them or none. Returns when each begins. */
  setAll(prices: readonly ModelPrice[], by: Visit, validFrom?: Date): Promise<Date[]>
  /** All prices, the newest of each model first. */
  list(): Promise<PriceEntry[]>
  /** Reads the prices again, as a timer also does. Throws Problem `unavailable`. */
  refresh(): Promise<void>
  close(): Promise<void>
}

/** The price of a model that produces this. */
export interface ModelPrice {
  readonly model: string
  readonly price: Price
  readonly kind: ModelKind
}

interface KnownPrice extends Price {
  readonly model: string
  /** A time of `performance.now()`. */
  readonly beginsAt: number
}

const refreshPause = 500

export function createPrices({ database, log }: { database: Database; log: Logger }): Prices {
  let known: ReadonlyMap<string, readonly KnownPrice[]> = new Map()

  const refresh = async () => {
    const readAt = performance.now()
    const rows = await store.readCurrentPrices(database, rulesIn(known))
    const read = Map.groupBy<string, KnownPrice>(
      rows.map(({ beginsIn, ...price }) => ({ ...price, beginsAt: readAt + beginsIn })),
      ({ model }) => model,
    )
    // A clock set back may take a scheduled price out of force. A model keeps its last price rather than lose its only one.
    for (const model of known.keys()) {
      const last = inForce(known, model)
      if (last !== undefined && inForce(read, model) === undefined) read.set(model, [last, ...(read.get(model) ?? [])])
    }
    known = read
  }
  const refreshing = repeat({ name: 'refreshing the prices', pause: refreshPause, work: refresh, log })

  return Object.freeze<Prices>({
    of(model) {
      return inForce(known, model)
    },
    async sync(configured) {
      await database.transaction(async (tx) => {
        const before = await store.lockConfiguredPrices(tx)
        for (const [model, price] of configured) {
          if (isSamePrice(before.get(model), price)) continue
          await insertPrice(tx, { ...price, model, source: 'configuration' }, byService)
        }
      })
      await refresh()
    },
    async set(model: string, price: Price, by: Visit, validFrom?: Date, kind: ModelKind = 'text') {
      checkPrice(price, validFrom, kind)
      return database.transaction((tx) => setWithin(tx, { model, price }, by, validFrom))
    },
    async setAll(prices: readonly ModelPrice[], by: Visit, validFrom?: Date) {
      for (const { price, kind } of prices) checkPrice(price, validFrom, kind)
      return database.transaction(async (tx) => {
        const begins: Date[] = []
        for (const each of prices) begins.push(await setWithin(tx, each, by, validFrom))
        return begins
      })
    },
    list: () => store.readPriceHistory(database),
    refresh,
    close: () => refreshing.stop(),
  })
}

async function setWithin(
  tx: Queryable,
  { model, price }: Pick<ModelPrice, 'model' | 'price'>,
  by: Visit,
  validFrom: Date | undefined,
): Promise<Date> {
  const source = by.actor.kind === 'person' ? 'portal' : 'command'
  const entry = { ...price, model, source, ...(validFrom && { validFrom }) } as const
  const begins = (await store.beginningOfEqualPrice(tx, entry)) ?? (await insertPrice(tx, entry, by))
  if (begins !== undefined) return begins
  const reason = `${model} already has another price that begins at that time: choose a later time.`
  throw new Problem('invalid_field', reason, { field: 'valid_from' })
}

/** Undefined if the model already has a price that begins at that time. */
async function insertPrice(tx: Queryable, entry: store.NewPriceRow, by: Visit): Promise<Date | undefined> {
  const begins = await store.insertPrice(tx, entry)
  if (begins === undefined) return undefined
  const details = { model: entry.model, ...writtenTokenPrices(entry), from: begins.toISOString() }
  const wholeDetails = entry.rules ? { rules: JSON.stringify(writtenRules(entry.rules)) } : {}
  await recordWithin(tx, [{ ...by, action: 'price_set', outcome: 'allowed', noun: 'price', details, wholeDetails }])
  return begins
}

/** By the numbers of their prices. */
function rulesIn(known: ReadonlyMap<string, readonly KnownPrice[]>): Map<bigint, PriceRules> {
  const all = [...known.values()].flat()
  return new Map(all.flatMap(({ number, rules }) => (number !== undefined && rules ? [[number, rules]] : [])))
}

/** The entries after the first are scheduled, and may have begun since they were read. */
function inForce(known: ReadonlyMap<string, readonly KnownPrice[]>, model: string): KnownPrice | undefined {
  return known.get(model)?.findLast(({ beginsAt }) => beginsAt <= performance.now())
}

/** By the names that callers use. */
const parts = ({ input, output, cachedInput, cacheWrite }: Price) => ({
  input,
  output,
  cached_input: cachedInput,
  cache_write: cacheWrite,
})

const reasons: Readonly<Record<string, string>> = {
  output: 'Output must cost more than input: raise its price.',
  cached_input: 'Cached input must not cost more than input: lower its price.',
}

function checkPrice(price: Price, validFrom: Date | undefined, kind: ModelKind): void {
  for (const [field, each] of Object.entries(parts(price))) {
    if (each && each < 0n) throw new Problem('invalid_field', 'A price must not be negative.', { field })
  }
  if (kind === 'embeddings') checkInputOnly(price)
  const [fault] = kind === 'text' ? priceFaults(price) : []
  if (fault) {
    const reason = reasons[fault.field] ?? `The field ${fault.field} ${fault.must}.`
    throw new Problem('invalid_field', reason, { field: fault.field })
  }
  if (validFrom !== undefined && validFrom.getTime() <= Date.now()) {
    throw new Problem('invalid_field', 'A price cannot begin in the past.', { field: 'valid_from' })
  }
}

/** Embeddings have neither output nor a prompt cache. */
function checkInputOnly({ output, cachedInput, cacheWrite, rules }: Price): void {
  const others = {
    output: output || null,
    cached_input: cachedInput ?? null,
    cache_write: cacheWrite ?? null,
    ...writtenRules(rules),
  }
  const field = Object.entries(others).find(([, each]) => each !== null)?.[0]
  if (field === undefined) return
  throw new Problem('invalid_field', 'An embedding model has only an input price: omit the others.', { field })
}
