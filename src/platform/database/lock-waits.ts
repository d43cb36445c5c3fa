import { setTimeout as wait } from 'node:timers/promises'
import type { Client } from 'pg'
import { OperatorError } from '../problems.ts'
import { withAdminConnection } from './admin-connection.ts'
import { codeOf } from './failure.ts'
import {
  cancelLockWait,
  limitLockWaits,
  readBackend,
  readBlocker,
  rollBack,
  type BlockingSession,
} from './migrations-store.ts'

interface Waiting {
  readonly url: string
  readonly onWait: (line: string) => void
}

/** How long the first attempt, which nothing watches, waits for each lock, in ms. No migration takes forty. */
const briefly = 50
/** How long a later attempt waits for each lock, in ms. */
const longest = 500
/** Milliseconds between two attempts, in which the others go on. */
const pause = 1000
/** How often a waiting migration looks for the session in the way, in ms. */
const lookEvery = 100
/** In how many of those looks an attempt may be found waiting, for any lock: what it has locked keeps others waiting as well. */
const mostWaits = 5

/** A transaction of the upgrade. */
interface Step {
  /** As the subject of a sentence. */
  readonly label: string
  readonly apply: () => Promise<void>
}

/**
 * Runs a transaction of the upgrade until it has got all its locks. While it waits for one, everybody else who needs that table, or one
 * that it has locked already, waits behind it: so an attempt waits half a second in all, and then lets the others go on for a second.
 */
export async function applyInTurn(client: Client, step: Step, { url, onWait }: Waiting): Promise<void> {
  await limitLockWaits(client, briefly)
  if (await attempt(client, step)) return
  await limitLockWaits(client, longest)
  await withAdminConnection(url, async (observer) => {
    let known: number | undefined
    const name = (session: BlockingSession): void => {
      if (session.pid !== known) onWait(lineFor(step, session))
      known = session.pid
    }
    const pid = await readBackend(client)
    do await wait(pause)
    while (!(await attemptWatched(client, step, { observer, pid, name })))
  })
}

interface Watch {
  readonly observer: Client
  readonly pid: number | undefined
  readonly name: (session: BlockingSession) => void
}

/** Names the sessions that the attempt waits for, and ends it if it waits too often. */
async function attemptWatched(client: Client, step: Step, { observer, pid, name }: Watch): Promise<boolean> {
  const giveUp = new AbortController()
  const work = attempt(client, step, giveUp.signal)
  const ended = work.then(
    () => true,
    () => true,
  )
  let waits = 0
  while (!(await Promise.race([ended, wait(lookEvery, false)]))) {
    const session = await readBlocker(observer, pid)
    if (session === undefined) continue
    name(session)
    waits++
    if (waits < mostWaits) continue
    giveUp.abort()
    await cancelLockWait(observer, pid)
  }
  return work
}

function lineFor({ label }: Step, { pid, application, since, command }: BlockingSession): string {
  const began = since === null ? '' : ` since ${since.toISOString()}`
  return `${label} waits for the session ${pid} (${application}), which has held locks${began} and last ran: ${command}`
}

/** Returns false if the tables could not be locked in time, or before `giveUp` aborted and the statement was cancelled. */
async function attempt(client: Client, { label, apply }: Step, giveUp?: AbortSignal): Promise<boolean> {
  try {
    await apply()
    return true
  } catch (error) {
    if (codeOf(error) === '55P03' || (codeOf(error) === '57014' && giveUp?.aborted === true)) {
      await rollBack(client)
      return false
    }
    // The connection is closed after this error, which rolls the transaction back.
    const reason = error instanceof Error ? error.message : String(error)
    const { user, database, host, port } = client
    throw new OperatorError(
      `${label} failed and was rolled back: ${reason}. It ran as the user "${user}" in the database "${database}" at ${host}:${port}.`,
      { cause: error },
    )
  }
}
