import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Database, DedicatedConnection } from '../platform/database/database.ts'
import type { Allowances, RequestOutcome } from './allowances.ts'
import * as store from './instance-store.ts'
import { standingOf } from './limits.ts'
import { createReaper } from './reaper.ts'
import type { TillRow } from './till-row.ts'
import { exchangeCall, tillCall } from './till-store.ts'

interface QueuedItem {
  /** A time of `performance.now()` after which the item is rejected. Infinite for a release, which must happen. */
  readonly deadline: number
  /** Whether a call with this item may have been committed. */
  sent: boolean
  readonly reject: (error: unknown) => void
}

/** An item of `till()`. */
export interface TillItem extends QueuedItem {
  readonly kind: 'admit' | 'settle'
  /** The hold's id, unique among the items of one kind. */
  readonly id: string
  readonly payload: { readonly hold: string; readonly account?: string }
  /** Whether the caller has stopped waiting. */
  abandoned: boolean
  readonly resolve: (row: TillRow | undefined) => void
}

/** A request admitted from an allowance that ends with `exchange()`. */
export interface ExchangeItem extends QueuedItem {
  readonly kind: 'end'
  readonly outcome: RequestOutcome
  /** A row of the type charge, or undefined if the request is released. */
  readonly charge: string | undefined
  readonly resolve: (done: boolean) => void
}

export type BatchItem = TillItem | ExchangeItem

/** This process's row in the database, and its connection for calls of `till()` and `exchange()`. */
export interface Instance {
  /** Calls `till()` once and resolves all items. If it rejects, no item is resolved and all can be sent again. */
  till(items: readonly TillItem[]): Promise<void>
  /** Calls `exchange()` once, with the requests that end and reports of their accounts' and other pending allowances. */
  exchange(items: readonly ExchangeItem[]): Promise<void>
  /** Releases what dead instances left. Most calls do nothing. */
  reap(): Promise<void>
  /** Whether the connection is open. */
  isConnected(): boolean
  /** Closes the connection after an error. The next call opens another. */
  reset(error: unknown): Promise<void>
  /** Closes the connection and removes this instance, unless another instance has to release something first. */
  close(): Promise<void>
}

/** Milliseconds without other calls after which an instance renews its lease. */
export const heartbeat = 5000
/** The SQLSTATE with which `till()` and `exchange()` refuse an instance whose lease ran out. */
const leaseLost = 'TG001'
/** Outcomes of settlements. All others belong to admissions. */
const settlementOutcomes: ReadonlySet<string> = new Set(['settled', 'released'])

/** Registers this process. Throws Problem `unavailable` without a database. */
export async function openInstance({
  database,
  allowances,
  log,
}: {
  database: Database
  allowances: Allowances
  log: Logger
}): Promise<Instance> {
  let session: DedicatedConnection | undefined
  let instance = ''
  let batch = 0n
  const reaper = createReaper(log)

  async function connect(): Promise<DedicatedConnection> {
    if (session !== undefined) return session
    const opened = await database.connect()
    opened.onLost(() => {
      if (session === opened) session = undefined
    })
    reaper.forget()
    session = opened
    if (instance === '') await register(opened)
    return opened
  }

  async function register(on: DedicatedConnection): Promise<void> {
    const id = randomUUID()
    await store.insertInstance(on, id, hostname())
    instance = id
    batch = 0n
    allowances.startOver(id)
  }

  async function till(items: readonly TillItem[]): Promise<void> {
    const on = await connect()
    const payloads = { settle: [] as object[], admit: [] as object[] }
    for (const item of items) {
      payloads[item.kind].push(item.sent ? { ...item.payload, again: true } : item.payload)
      item.sent = true
    }
    batch += 1n
    const sentAt = performance.now()
    const rows = await on.call(tillCall({ instance, batch }, payloads))
    const settled = new Map<string, TillRow>()
    const admitted = new Map<string, TillRow>()
    for (const row of rows) {
      ;(settlementOutcomes.has(row.outcome) ? settled : admitted).set(row.id, row)
      const standing = standingOf(row)
      if (standing !== undefined && row.of_account !== null) allowances.noted(row.of_account, standing, sentAt)
    }
    for (const item of items) item.resolve((item.kind === 'settle' ? settled : admitted).get(item.id))
  }

  async function exchange(items: readonly ExchangeItem[]): Promise<void> {
    const on = await connect()
    const fresh = await resolveFromLedger(on, items)
    const outcomes = fresh.map(({ outcome }) => outcome)
    const reports = allowances.report(outcomes)
    for (const item of fresh) item.sent = true
    batch += 1n
    const sentAt = performance.now()
    const renewals = await on.call(exchangeCall({ instance, batch }, reports, chargesOf(fresh)))
    allowances.answered(outcomes, renewals, sentAt)
    for (const item of fresh) item.resolve(true)
  }

  /**
   * Looks up in the ledger the items whose call was interrupted, and those of an earlier instance of this process: only
   * the ledger knows whether they were charged. Returns the items that are still to be sent.
   */
  async function resolveFromLedger(
    on: DedicatedConnection,
    items: readonly ExchangeItem[],
  ): Promise<readonly ExchangeItem[]> {
    const open = items.filter(({ sent, outcome }) => sent || outcome.taken.instance !== instance)
    if (open.length === 0) return items
    // The interrupted call may still be running, or may not have reached the database yet.
    batch += 1n
    await store.refuseEarlierBatches(on, { id: instance, lastBatch: batch })
    const ids = open.map(({ outcome }) => outcome.taken.request.requestId)
    const charged = await store.readCharged(on, ids)
    return items.filter((item) => {
      const found = charged.has(item.outcome.taken.request.requestId)
      const isOurs = item.outcome.taken.instance === instance
      if (!open.includes(item) || (!found && isOurs && item.charge !== undefined)) return true
      // A release leaves no trace in the database: its tokens may have been returned, and must not be returned twice.
      allowances.dropped(item.outcome)
      item.resolve(found || (isOurs && item.charge === undefined))
      return false
    })
  }

  async function reap(): Promise<void> {
    if (session !== undefined) await reaper.look(session, instance)
  }

  async function close(): Promise<void> {
    // If this fails, another instance does it when the lease has run out.
    await store
      .deleteInstance(database, instance)
      .catch((error: unknown) => log.warn({ err: error }, 'this instance could not be removed'))
    await session?.close()
  }

  await connect()
  return Object.freeze({
    till,
    exchange,
    reap,
    isConnected: () => session !== undefined,
    async reset(error: unknown) {
      if (isLeaseLost(error)) instance = ''
      const broken = session
      session = undefined
      await broken?.close().catch(() => undefined)
    },
    close,
  })
}

/** Not inline in `exchange`: an async function keeps its local variables alive while it waits for the reply. */
const chargesOf = (items: readonly ExchangeItem[]): string[] => items.flatMap(({ charge }) => charge ?? [])

/** Whether another instance has reaped this one, which must then register again. */
export const isLeaseLost = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === leaseLost
