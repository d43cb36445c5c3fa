import type { Database, Queryable } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import type { RecordedActor, RequestOrigin } from '../actor.ts'
import { insertEntries, type NewEntry } from './store.ts'

/** One audit event. It has ids and short words only: never a secret, never the text of a record. */
export interface AuditEntry extends RequestOrigin {
  readonly actor: RecordedActor
  /** `client_read`, `sign_in`, … */
  readonly action: string
  readonly outcome: 'allowed' | 'refused'
  readonly clientId?: string | undefined
  readonly noun?: string | undefined
  readonly nounId?: string | undefined
  /** Texts of at most 500 characters: a longer one ends with a sign for what is left out. */
  readonly details?: Readonly<Record<string, string>> | undefined
  /** Details that are kept whole: what the service writes itself, such as ids, and bounds before. */
  readonly wholeDetails?: Readonly<Record<string, string>> | undefined
}

/**
 * The append-only log of every action, allowed or refused. One statement writes the events of many requests. Seals chain
 * the rows later, in the background.
 */
export interface Audit {
  /**
   * Writes an event. Resolves once it is durable: only then may the response be sent. Rejects with Problem `unavailable`
   * when the database is unreachable; the event may have been written nevertheless.
   */
  record(this: void, entry: AuditEntry): Promise<void>
  /** See `recordWithin` below. */
  recordWithin(this: void, tx: Queryable, entries: readonly AuditEntry[]): Promise<void>
  /** Writes the queued events. Call it when no request is in flight. */
  close(): Promise<void>
}

interface AuditNeeds {
  readonly database: Database
}

interface Waiting {
  readonly row: NewEntry
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const mostPerCall = 512

/** Any number of instances may write to the log at the same time. */
export function createAudit({ database }: AuditNeeds): Audit {
  let queue: Waiting[] = []
  let writing: Promise<void> | undefined

  /** While one statement runs, the next rows queue up. */
  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.slice(0, mostPerCall)
      queue = queue.slice(mostPerCall)
      await write(batch)
    }
    writing = undefined
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    try {
      await insertEntries(
        database,
        batch.map(({ row }) => row),
      )
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return Object.freeze<Audit>({
    record: (entry) =>
      new Promise<void>((resolve, reject) => {
        queue.push({ row: rowOf(entry), resolve, reject })
        // Events of the same turn of the event loop share the statement.
        writing ??= Promise.resolve().then(writeAll)
      }),
    recordWithin,
    async close() {
      await writing
    },
  })
}

/** Writes events in the transaction of the change that they record, so that neither commits without the other. */
export async function recordWithin(tx: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > 0) await insertEntries(tx, entries.map(rowOf))
}

/** Makes a row that PostgreSQL always accepts, so that one event cannot fail the others in its statement. */
function rowOf(entry: AuditEntry): NewEntry {
  const { actor } = entry
  return {
    action: entry.action,
    outcome: entry.outcome,
    actor: actor.kind,
    actor_name: actorName(actor),
    person_id: actor.kind === 'person' ? personId(actor.id) : undefined,
    client_id: uuidOrUndefined(entry.clientId),
    noun: entry.noun,
    noun_id: uuidOrUndefined(entry.nounId),
    request_id: entry.requestId,
    address: entry.address,
    details: detailsOf(entry),
  }
}

function detailsOf({ details, wholeDetails }: AuditEntry): Record<string, string> | undefined {
  if (details === undefined && wholeDetails === undefined) return undefined
  const short = Object.entries(details ?? {}).map(([name, text]) => [name, shortened(text)] as const)
  return Object.fromEntries(
    [...short, ...Object.entries(wholeDetails ?? {})].map(([name, text]) => [name, plain(text)]),
  )
}

function personId(id: string): string {
  if (!isUuid(id)) throw new Error('an audit event of a person needs the id of the person')
  return id
}

/** Identifies an actor that is not a person among those of its kind. */
function actorName(actor: RecordedActor): string | undefined {
  if (actor.kind === 'command') return plain(shortened(actor.user))
  return actor.kind === 'key' ? actor.id : undefined
}

const uuidOrUndefined = (text: string | undefined) => (text !== undefined && isUuid(text) ? text : undefined)

const longest = 500
const shortened = (text: string) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)

/** Replaces what JSON allows and PostgreSQL rejects. */
const plain = (text: string) => text.toWellFormed().replaceAll('\0', '\u{fffd}')
