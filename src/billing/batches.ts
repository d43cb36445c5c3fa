import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Database, Session } from '../platform/database.ts'
import { Problem } from '../platform/problems.ts'

/** What `till()` answers for one item. Levels are in 1/60 000 000 of a request or token. */
export interface TillRow {
  readonly id: string
  readonly outcome: string
  readonly request_level: bigint | null
  readonly token_level: bigint | null
  readonly requests_per_minute: number | null
  readonly tokens_per_minute: number | null
  readonly wait_us: bigint | null
  readonly cost: bigint | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly body: string | null
}

interface Item {
  readonly kind: 'admit' | 'settle'
  /** The hold's id; no two items of one kind share it. */
  readonly id: string
  readonly payload: object
  /** Milliseconds of `performance.now()`; past it the item is given up. Infinite for what must be done in the end. */
  readonly deadline: number
  /** Whether a call that carried it may have been committed. */
  sent: boolean
  readonly resolve: (row: TillRow | undefined) => void
  readonly reject: (error: unknown) => void
}

/** The one queue to `till()`: whatever gathers while a call is under way goes with the next. */
export interface Batches {
  /** Rejects with Problem `unavailable` after `patience` ms without the database. */
  send(kind: Item['kind'], id: string, payload: object, patience: number): Promise<TillRow | undefined>
  /** Settles what is queued, gives the instance up and closes. */
  drain(): Promise<void>
}

const mostPerCall = 256
const heartbeat = 5000
/** An instance that has been silent for so long is dead: its holds are released by another. */
const lease = '20 seconds'
const givenUp = 'TG001'
/** What is answered to a settlement; all else is answered to an admission. */
const settlements: ReadonlySet<string> = new Set(['settled', 'released'])

/** Registers this process as an instance and keeps it alive. Throws Problem `unavailable` without a database. */
export async function openBatches({ database, log }: { database: Database; log: Logger }): Promise<Batches> {
  let queue: Item[] = []
  let session: Session | undefined
  let instance = ''
  let batch = 0n
  let lastReap = -Infinity
  let closing = false
  let wake: (() => void) | undefined

  async function connect(): Promise<Session> {
    if (session !== undefined) return session
    const opened = await database.session()
    opened.onLost(() => {
      if (session === opened) session = undefined
    })
    session = opened
    if (instance === '') await register(opened)
    return opened
  }

  async function register(on: Session): Promise<void> {
    const id = randomUUID()
    await on.rows('insert into instance (id, host) values ($1, $2)', [id, hostname()])
    instance = id
    batch = 0n
  }

  /** One call. What it carried is answered; a failure leaves all of it to be sent again. */
  async function call(items: readonly Item[]): Promise<void> {
    const on = await connect()
    const payloads = { settle: [] as object[], admit: [] as object[] }
    for (const item of items) {
      payloads[item.kind].push(item.sent ? { ...item.payload, again: true } : item.payload)
      item.sent = true
    }
    batch += 1n
    const answers = await on.rows<TillRow>({
      name: 'till',
      text: 'select * from till($1, $2, $3, $4)',
      values: [instance, batch, JSON.stringify(payloads.settle), JSON.stringify(payloads.admit)],
    })
    const settled = new Map<string, TillRow>()
    const admitted = new Map<string, TillRow>()
    for (const row of answers) (settlements.has(row.outcome) ? settled : admitted).set(row.id, row)
    for (const item of items) item.resolve((item.kind === 'settle' ? settled : admitted).get(item.id))
  }

  async function reap(): Promise<void> {
    if (performance.now() - lastReap < 2 * heartbeat) return
    lastReap = performance.now()
    const on = await connect()
    for (;;) {
      const [row] = await on.rows<{ instance: string | null }>('select reap($1) as instance', [lease])
      if (typeof row?.instance !== 'string') return
      log.warn({ instance: row.instance }, 'an instance has stopped answering: its holds are released')
    }
  }

  /** A lost connection leaves open whether the call was committed: what it carried is sent again, never guessed at. */
  async function recover(error: unknown, items: readonly Item[]): Promise<void> {
    log.warn({ err: error }, 'the till cannot reach the database')
    if (isGivenUp(error)) instance = ''
    const broken = session
    session = undefined
    await broken?.close().catch(() => undefined)
    const now = performance.now()
    const all = [...items, ...queue]
    // The releases are left to whoever reaps this instance when the database is away while it stops.
    queue = all.filter((item) => item.deadline > now && !(closing && item.deadline === Infinity))
    for (const item of all.filter(({ deadline }) => deadline <= now)) {
      item.reject(
        new Problem('unavailable', 'The database is away. Nothing was charged; try again.', { retryAfter: 1 }),
      )
      // It may be held all the same: the next call that gets through releases it. The batch number keeps out a late one.
      if (item.sent) queue.push(releaseOf(item.id))
    }
    await sleep(100)
  }

  /** An item that the database refuses must not take down those that were sent with it: each is sent alone. */
  async function callEach(items: readonly Item[]): Promise<void> {
    for (const [sent, item] of items.entries()) {
      try {
        await call([item])
      } catch (error) {
        if (isPassing(error)) return recover(error, items.slice(sent))
        log.error({ err: error, request_id: item.id }, 'the till refused an item')
        item.reject(error)
      }
    }
  }

  async function loop(): Promise<void> {
    for (;;) {
      if (queue.length === 0 && !closing) await idle()
      if (queue.length === 0 && closing) return
      const items = queue.splice(0, mostPerCall)
      try {
        await call(items)
        await reap()
      } catch (error) {
        await (isPassing(error) ? recover(error, items) : callEach(items))
      }
    }
  }

  /** Until something is queued, or it is time to say that this instance lives. */
  async function idle(): Promise<void> {
    const timer = setTimeout(() => wake?.(), heartbeat)
    await new Promise<void>((resolve) => (wake = resolve))
    wake = undefined
    clearTimeout(timer)
  }

  await connect()
  const running = loop()

  return Object.freeze({
    send(kind: Item['kind'], id: string, payload: object, patience: number) {
      return new Promise<TillRow | undefined>((resolve, reject) => {
        if (closing) return reject(new Problem('unavailable', 'The service is stopping; try again.', { retryAfter: 1 }))
        queue.push({ kind, id, payload, deadline: performance.now() + patience, sent: false, resolve, reject })
        wake?.()
      })
    },
    async drain() {
      closing = true
      wake?.()
      await running
      // Left undone, another instance does it when the lease has run out.
      await database
        .rows('delete from instance where id = $1 and not exists (select from hold where instance_id = $1)', [instance])
        .catch((error: unknown) => log.warn({ err: error }, 'this instance could not be given up'))
      await session?.close()
    },
  })
}

const nobody = (): void => undefined

function releaseOf(id: string): Item {
  return { kind: 'settle', id, payload: { hold: id }, deadline: Infinity, sent: true, resolve: nobody, reject: nobody }
}

const isGivenUp = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === givenUp

/** Whether the same call may succeed later, as it is. */
const isPassing = (error: unknown): boolean => error instanceof Problem || isGivenUp(error)
