import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { PreparedStatement } from '../platform/database/batch.ts'
import type { Database, Session } from '../platform/database/database.ts'
import { rowsText } from '../platform/database/rows.ts'
import type { Allowances, Ending, Renewal } from './allowances.ts'
import { reportRow } from './exchange-rows.ts'
import * as store from './instance-store.ts'
import { standingOf } from './limits.ts'
import { createReaper } from './reaper.ts'
import type { Report } from './stock.ts'
import type { TillRow } from './till-row.ts'

interface Waiting {
  /** Milliseconds of `performance.now()`; past it the item is given up. Infinite for what must be done in the end. */
  readonly deadline: number
  /** Whether a call that carried it may have been committed. */
  sent: boolean
  readonly reject: (error: unknown) => void
}

/** For `till()`. */
export interface Errand extends Waiting {
  readonly kind: 'admit' | 'settle'
  /** The hold's id; no two items of one kind share it. */
  readonly id: string
  readonly payload: { readonly hold: string; readonly account?: string }
  /** Whether its caller no longer waits. */
  abandoned: boolean
  readonly resolve: (row: TillRow | undefined) => void
}

/** For `exchange()`. */
export interface Farewell extends Waiting {
  readonly kind: 'end'
  readonly ending: Ending
  /** A row of the type charge; undefined: nothing is charged. */
  readonly charge: string | undefined
  readonly resolve: (done: boolean) => void
}

export type Item = Errand | Farewell

/** This process as the database knows it, and the connection on which it calls `till()` and `exchange()`. */
export interface Instance {
  /** One call of `till()`. What it carried is answered; a failure leaves all of it to be sent again. */
  till(items: readonly Errand[]): Promise<void>
  /** One call of `exchange()`: the requests that end, and what this instance has of their accounts and of others. */
  exchange(items: readonly Farewell[]): Promise<void>
  /** Gives up the instances that are dead, now and then. */
  reap(): Promise<void>
  /** Whether there is a connection. */
  isConnected(): boolean
  /** Away with the connection, after that error: the next call opens another. */
  reset(error: unknown): Promise<void>
  /** Gives this instance up, if nothing is left that another would have to release. */
  close(): Promise<void>
}

/** Milliseconds after which an instance says that it lives although it has nothing else to say. */
export const heartbeat = 5000
const givenUp = 'TG001'
/** What is answered to a settlement; all else is answered to an admission. */
const settlements: ReadonlySet<string> = new Set(['settled', 'released'])

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
  let session: Session | undefined
  let instance = ''
  let batch = 0n
  const reaper = createReaper(log)

  async function connect(): Promise<Session> {
    if (session !== undefined) return session
    const opened = await database.session()
    opened.onLost(() => {
      if (session === opened) session = undefined
    })
    reaper.forget()
    session = opened
    if (instance === '') await register(opened)
    return opened
  }

  async function register(on: Session): Promise<void> {
    const id = randomUUID()
    await store.insertInstance(on, id, hostname())
    instance = id
    batch = 0n
    allowances.startOver(id)
  }

  async function till(items: readonly Errand[]): Promise<void> {
    const on = await connect()
    const payloads = { settle: [] as object[], admit: [] as object[] }
    for (const item of items) {
      payloads[item.kind].push(item.sent ? { ...item.payload, again: true } : item.payload)
      item.sent = true
    }
    batch += 1n
    const sentAt = performance.now()
    const answers = await on.call<TillRow>({
      name: 'till',
      text: 'select * from till($1, $2, $3, $4)',
      values: [instance, batch, JSON.stringify(payloads.settle), JSON.stringify(payloads.admit)],
    })
    const settled = new Map<string, TillRow>()
    const admitted = new Map<string, TillRow>()
    for (const row of answers) {
      ;(settlements.has(row.outcome) ? settled : admitted).set(row.id, row)
      const standing = standingOf(row)
      if (standing !== undefined && row.of_account !== null) allowances.noted(row.of_account, standing, sentAt)
    }
    for (const item of items) item.resolve((item.kind === 'settle' ? settled : admitted).get(item.id))
  }

  async function exchange(items: readonly Farewell[]): Promise<void> {
    const on = await connect()
    const fresh = await settleByLooking(on, items)
    const endings = fresh.map(({ ending }) => ending)
    const reports = allowances.report(endings)
    for (const item of fresh) item.sent = true
    batch += 1n
    const sentAt = performance.now()
    const renewals = await on.call(exchangeOf(instance, batch, reports, fresh))
    allowances.answered(endings, renewals, sentAt)
    for (const item of fresh) item.resolve(true)
  }

  /**
   * Of items that an earlier call carried whose answer was lost, and of those of an instance that was given up, only the
   * ledger knows whether they are charged. Returns the others.
   */
  async function settleByLooking(on: Session, items: readonly Farewell[]): Promise<readonly Farewell[]> {
    const open = items.filter(({ sent, ending }) => sent || ending.taken.instance !== instance)
    if (open.length === 0) return items
    // Waits for the earlier call if it is still under way, and keeps it out if it is yet to come.
    batch += 1n
    await store.refuseEarlierBatches(on, { id: instance, lastBatch: batch })
    const ids = open.map(({ ending }) => ending.taken.request.requestId)
    const charged = await store.readCharged(on, ids)
    return items.filter((item) => {
      const found = charged.has(item.ending.taken.request.requestId)
      const isOurs = item.ending.taken.instance === instance
      if (!open.includes(item) || (!found && isOurs && item.charge !== undefined)) return true
      // What is not charged leaves no trace: its tokens may be given back already, and are not given back twice.
      allowances.dropped(item.ending)
      item.resolve(found || (isOurs && item.charge === undefined))
      return false
    })
  }

  async function reap(): Promise<void> {
    if (session !== undefined) await reaper.look(session, instance)
  }

  async function close(): Promise<void> {
    // Left undone, another instance does it when the lease has run out.
    await store
      .deleteInstance(database, instance)
      .catch((error: unknown) => log.warn({ err: error }, 'this instance could not be given up'))
    await session?.close()
  }

  await connect()
  return Object.freeze({
    till,
    exchange,
    reap,
    isConnected: () => session !== undefined,
    async reset(error: unknown) {
      if (isGivenUp(error)) instance = ''
      const broken = session
      session = undefined
      await broken?.close().catch(() => undefined)
    },
    close,
  })
}

/** Not where its answer is waited for: a function that waits keeps what it made for as long as it is kept itself. */
function exchangeOf(
  instance: string,
  batch: bigint,
  reports: readonly Report[],
  endings: readonly Farewell[],
): PreparedStatement<Renewal> {
  const charges = endings.flatMap(({ charge }) => charge ?? [])
  return {
    name: 'exchange',
    text: 'select * from exchange($1, $2, $3, $4)',
    values: [instance, batch, rowsText(reports.map(reportRow)), rowsText(charges)],
  }
}

/** Whether another has given this instance up: it goes on as a new one. */
export const isGivenUp = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === givenUp
