import type { Database, Queryable } from '../platform/database/database.ts'
import { isUuid } from '../platform/database/uuid.ts'
import type { Origin, RecordedActor } from './actor.ts'

/** One action that was performed or refused. Ids and short words only: never a secret, never the text of a record. */
export interface AuditEntry extends Origin {
  readonly actor: RecordedActor
  /** `client_read`, `sign_in`, … */
  readonly action: string
  readonly outcome: 'allowed' | 'refused'
  readonly clientId?: string | undefined
  readonly noun?: string | undefined
  readonly nounId?: string | undefined
  readonly details?: Readonly<Record<string, string>> | undefined
}

/**
 * The append-only log of who read, changed or was refused what. One statement writes the rows of many requests; seals chain
 * the rows later, in the background.
 */
export interface Audit {
  /**
   * Writes an entry. Resolves once it is durable: an answer may leave only then. Rejects with Problem `unavailable` when
   * the database is away; the entry may have been written all the same.
   */
  record(this: void, entry: AuditEntry): Promise<void>
  /** The function below. */
  recordWithin(this: void, tx: Queryable, entries: readonly AuditEntry[]): Promise<void>
  /** Writes what is queued. Call it when no request is left. */
  close(): Promise<void>
}

interface AuditNeeds {
  readonly database: Database
}

interface Waiting {
  readonly row: object
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const mostPerCall = 512

/** Opens the log of this instance. Any number of instances may write at the same time. */
export function createAudit({ database }: AuditNeeds): Audit {
  let queue: Waiting[] = []
  let writing: Promise<void> | undefined

  /** While one statement is under way the next rows gather. */
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
      await database.rows(insertion(batch.map(({ row }) => row)))
      for (const { resolve } of batch) resolve()
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return Object.freeze({
    record: (entry: AuditEntry) =>
      new Promise<void>((resolve, reject) => {
        queue.push({ row: rowOf(entry), resolve, reject })
        // What the same turn of the event loop brings goes with it.
        writing ??= Promise.resolve().then(writeAll)
      }),
    recordWithin,
    async close() {
      await writing
    },
  })
}

/** Writes entries in the transaction of the change that they record, so that neither commits without the other. */
export async function recordWithin(tx: Queryable, entries: readonly AuditEntry[]): Promise<void> {
  if (entries.length > 0) await tx.rows(insertion(entries.map(rowOf)))
}

const columns = 'action, outcome, actor, actor_name, person_id, client_id, noun, noun_id, request_id, address, details'

function insertion(rows: readonly object[]) {
  return {
    name: 'audit',
    text: `insert into audit (${columns})
      select ${columns} from jsonb_to_recordset($1) as r(action text, outcome text, actor text, actor_name text,
        person_id uuid, client_id uuid, noun text, noun_id uuid, request_id text, address text, details jsonb)`,
    values: [JSON.stringify(rows)],
  }
}

/** A row that PostgreSQL is sure to accept, so that an odd one cannot fail those written with it. */
function rowOf(entry: AuditEntry): object {
  const { actor } = entry
  return {
    action: entry.action,
    outcome: entry.outcome,
    actor: actor.kind,
    actor_name: actorName(actor),
    person_id: actor.kind === 'person' ? personId(actor.id) : undefined,
    client_id: uuidOrNothing(entry.clientId),
    noun: entry.noun,
    noun_id: uuidOrNothing(entry.nounId),
    request_id: entry.requestId,
    address: entry.address,
    details:
      entry.details && Object.fromEntries(Object.entries(entry.details).map(([name, text]) => [name, plain(text)])),
  }
}

function personId(id: string): string {
  if (!isUuid(id)) throw new Error('an audit event of a person needs the id of the person')
  return id
}

/** What tells apart actors of one kind that are not people. */
function actorName(actor: RecordedActor): string | undefined {
  if (actor.kind === 'command') return plain(actor.user)
  return actor.kind === 'key' ? actor.id : undefined
}

const uuidOrNothing = (text: string | undefined) => (text !== undefined && isUuid(text) ? text : undefined)

/** Without what JSON carries and PostgreSQL does not, and not endless. */
const plain = (text: string) => text.slice(0, 500).toWellFormed().replaceAll('\0', '\u{fffd}')
