import type { DedicatedConnection } from '../../platform/database/database.ts'
import type { Allowances, Renewal } from '../allowances/allowances.ts'
import type { ExchangeItem, TillItem } from '../till/batch-item.ts'
import { InstanceSession, type InstanceNeeds } from './instance-session.ts'
import * as store from './store.ts'
import { accountStanding, keyStanding } from '../till/limits.ts'
import type { TillRow } from '../till/till-row.ts'
import { appendCall, exchangeCall, tillCall, type ExchangeParts } from '../till/store.ts'

export { isLeaseLost } from './instance-session.ts'

/** This process's row in the database, and its connection for calls of `till()` and `exchange_timed()`. */
export interface Instance {
  /** Calls `till()` once and resolves all items. If it rejects, no item is resolved and all can be sent again. */
  till(this: void, items: readonly TillItem[]): Promise<void>
  /** Writes the charges of requests that end with one call at most: with `exchange_timed()` if there is something to report, and else with `append_charges()`. */
  exchange(this: void, items: readonly ExchangeItem[]): Promise<void>
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
/** Outcomes of settlements. All others belong to admissions. */
const settlementOutcomes: ReadonlySet<string> = new Set(['settled', 'released'])

/** Registers this process. Throws Problem `unavailable` without a database. */
export async function openInstance(needs: InstanceNeeds): Promise<Instance> {
  const { allowances } = needs
  const session = new InstanceSession(needs)
  const known = { session, allowances }

  async function till(items: readonly TillItem[]): Promise<void> {
    const on = await session.connect()
    const payloads = { settle: [] as object[], admit: [] as object[] }
    for (const item of items) {
      payloads[item.kind].push(item.sent ? { ...item.payload, again: true } : item.payload)
      item.sent = true
    }
    const sentAt = performance.now()
    resolveAll(items, await on.call(tillCall(session.nextBatch(), payloads)), allowances, sentAt)
  }

  async function exchange(items: readonly ExchangeItem[]): Promise<void> {
    const on = await session.connect()
    const fresh = await resolveFromLedger(on, known, items)
    const outcomes = fresh.map(({ outcome }) => outcome)
    const reports = allowances.report(outcomes)
    for (const item of fresh) item.sent = true
    const sentAt = performance.now()
    allowances.answered(outcomes, await callFor(on, { ...reports, ...endingsOf(fresh) }), sentAt)
    for (const item of fresh) item.resolve(true)
  }

  /** Without reports, the charges are only appended, and a release changes nothing. */
  async function callFor(on: DedicatedConnection, exchanged: ExchangeParts): Promise<readonly Renewal[]> {
    const { accounts, keys, budgets, charges, terms } = exchanged
    if (accounts.length > 0 || keys.length > 0 || budgets.length > 0)
      return on.call(exchangeCall(session.nextBatch(), exchanged))
    if (charges.length > 0) await on.call(appendCall(session.nextBatch(), { charges, terms }))
    return []
  }

  await session.connect()
  return Object.freeze({
    till,
    exchange,
    reap: () => session.reap(),
    isConnected: () => session.isConnected,
    reset: (error: unknown) => session.reset(error),
    close: () => session.close(),
  })
}

/** Resolves the items of a call that was sent at `sentAt`, and notes the levels in its answer. */
function resolveAll(
  items: readonly TillItem[],
  rows: readonly TillRow[],
  allowances: Allowances,
  sentAt: number,
): void {
  const settled = new Map<string, TillRow>()
  const admitted = new Map<string, TillRow>()
  for (const row of rows) {
    ;(settlementOutcomes.has(row.outcome) ? settled : admitted).set(row.id, row)
    if (row.of_account !== null) allowances.noted(row.of_account, accountStanding(row), sentAt)
    if (row.of_limit !== null) allowances.noted(row.of_limit, keyStanding(row), sentAt)
  }
  for (const item of items) item.resolve((item.kind === 'settle' ? settled : admitted).get(item.id))
}

/**
 * Looks up in the ledger the items whose call was interrupted, and those of an earlier instance of this process: only the
 * ledger knows whether they were charged, and only their holds show that they moved. Returns the items that are still to be sent.
 */
async function resolveFromLedger(
  on: DedicatedConnection,
  { session, allowances }: { readonly session: InstanceSession; readonly allowances: Allowances },
  items: readonly ExchangeItem[],
): Promise<readonly ExchangeItem[]> {
  const isOurs = ({ outcome }: ExchangeItem) => outcome.taken.instance === session.id
  const open = items.filter((item) => item.sent || !isOurs(item))
  if (open.length === 0) return items
  // The interrupted call may still be running, or may not have reached the database yet.
  const { instance: id, batch: lastBatch } = session.nextBatch()
  await store.refuseEarlierBatches(on, { id, lastBatch })
  const ids = open.map(({ outcome }) => outcome.taken.request.requestId)
  const ended = await store.readEnded(on, ids)
  return items.filter((item) => {
    const found = ended.has(item.outcome.taken.request.requestId)
    const isReleased = item.charge === undefined && item.hold === undefined
    if (!open.includes(item) || (!found && isOurs(item) && !isReleased)) return true
    // A release leaves no trace in the database: its tokens may have been returned, and must not be returned twice.
    allowances.dropped(item.outcome)
    item.resolve(found || (isOurs(item) && isReleased))
    return false
  })
}

/** Not inline in `exchange`: an async function keeps its local variables alive while it waits for the reply. */
const endingsOf = (items: readonly ExchangeItem[]) => ({
  charges: items.flatMap(({ charge }) => charge ?? []),
  terms: items.flatMap(({ terms }) => (terms === undefined ? [] : [terms])),
  holds: items.flatMap(({ hold }) => hold ?? []),
})
