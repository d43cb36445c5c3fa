import type { Logger } from 'pino'
import type { Db, PgBoss } from 'pg-boss'
import { connectionConfig } from '../platform/database/connection.ts'
import type { Queryable } from '../platform/database/database.ts'
import type { Encryption } from '../platform/encryption/encryption.ts'
import { OperatorError } from '../platform/problems.ts'
import { isTemplate, type MailContent } from './catalogue.ts'
import type { MailMessage } from './mailer.ts'

/** A mail that waits, as an instance took it. */
export interface QueuedMail {
  readonly id: string
  /** Encrypted. */
  readonly sealed: Buffer
  /** How often it was tried before. */
  readonly tries: number
  readonly isLastTry: boolean
}

/** Mail that waits to be sent, in PostgreSQL: it survives a restart, and each mail is in the hands of one instance. */
export interface MailQueue {
  /** Adds a mail within a transaction. */
  add(this: void, tx: Queryable, mail: { readonly id: string; readonly sealed: Buffer }): Promise<void>
  /** Takes mail that is due. A mail that is not reported as in work for 30 s is given to another instance. */
  take(this: void, most: number): Promise<QueuedMail[]>
  /** Reports mail as in work. */
  keep(this: void, ids: readonly string[]): Promise<void>
  /** Removes a mail that was sent or given up, even if another instance has it by now. */
  finish(this: void, id: string): Promise<void>
  /** Puts a mail back, to be tried again later each time. */
  postpone(this: void, mail: QueuedMail): Promise<void>
  close(this: void): Promise<void>
}

interface QueueNeeds {
  readonly databaseUrl: string
  readonly log: Logger
  /** Seconds until the second try of a mail; the pauses double from there, up to an hour. Default 5. */
  readonly firstPause?: number
  /** Seconds between looks for mail that a dead instance had taken. Default 15. */
  readonly superviseEvery?: number
  /** Only adds mail, and throws OperatorError if there is no schema of this version. Default false. */
  readonly addsOnly?: boolean
}

/** The schema of the tables, which belong to pg-boss. */
const schema = 'pgboss'
const queue = 'mail'
/** With the pauses below, a mail is tried for about five days (RFC 5321 section 4.5.4.1). */
const retries = { retryLimit: 130, retryBackoff: true, retryDelayMax: 3600 }
/** In seconds. A mail may be in work longer than the mail server may take to reply. */
const limits = { expireInSeconds: 1800, heartbeatSeconds: 30, deleteAfterSeconds: 3600, retentionSeconds: 14 * 86_400 }

/**
 * Opens the queue, and creates or upgrades its schema if necessary. Throws OperatorError if the login may not create it.
 */
export async function openMailQueue(needs: QueueNeeds): Promise<MailQueue> {
  const { firstPause = 5 } = needs
  const boss = await startBoss(needs)
  if (needs.addsOnly !== true) await boss.createQueue(queue)

  return Object.freeze<MailQueue>({
    async add(tx, { id, sealed }) {
      const retryDelay = firstPause
      const data = { sealed: sealed.toString('base64') }
      await boss.send(queue, data, { ...retries, ...limits, retryDelay, id, db: within(tx) })
    },
    async take(most) {
      const jobs = await boss.fetch<{ sealed: string }>(queue, { batchSize: most, includeMetadata: true })
      return jobs.map(({ id, data, retryCount, retryLimit }) => ({
        id,
        sealed: Buffer.from(data.sealed, 'base64'),
        tries: retryCount,
        isLastTry: retryCount >= retryLimit,
      }))
    },
    async keep(ids) {
      if (ids.length > 0) await boss.touch(queue, [...ids])
    },
    async finish(id) {
      await boss.complete(queue, id, null, { includeQueued: true })
    },
    async postpone({ id, tries }) {
      await boss.fail(queue, { id, retryCount: tries })
    },
    close: () => boss.stop({ graceful: false }),
  })
}

/** Creates the schema of the queue, or upgrades it. */
export async function migrateMailQueue(databaseUrl: string, log: Logger): Promise<void> {
  const mailQueue = await openMailQueue({ databaseUrl, log })
  await mailQueue.close()
}

async function startBoss({ databaseUrl, log, superviseEvery = 15, addsOnly = false }: QueueNeeds): Promise<PgBoss> {
  // Without our types: pg-boss expects those of the driver.
  const { connectionString = '', options = '', connectionTimeoutMillis = 5000 } = connectionConfig(databaseUrl, 30_000)
  // Loaded only where mail is configured: it takes 30 MB.
  const { PgBoss: Boss } = await import('pg-boss')
  const boss = new Boss({
    connectionString,
    options,
    connectionTimeoutMillis,
    schema,
    max: 2,
    application_name: 'tollgate mail',
    schedule: false,
    migrate: !addsOnly,
    createSchema: !addsOnly,
    supervise: !addsOnly,
    registerInstance: false,
    reindex: false,
    monitorVacuum: false,
    superviseIntervalSeconds: superviseEvery,
    monitorIntervalSeconds: superviseEvery,
    openTelemetry: { enabled: false },
  })
  boss.on('error', (error) => log.warn({ err: error }, 'mail queue: failed, will be retried'))
  boss.on('warning', ({ message }) => log.warn(`mail queue: ${message}`))
  try {
    return await boss.start()
  } catch (error) {
    await boss.stop({ graceful: false }).catch(() => undefined)
    const reason = error instanceof Error ? error.message : String(error)
    if (addsOnly) {
      throw new OperatorError(`The mail queue is not ready: ${reason}. Run ./tollgate migrate, or ./tollgate start`, {
        cause: error,
      })
    }
    throw new OperatorError(
      `The mail queue needs a schema "${schema}" in the database, which cannot be created: ${reason}. Grant CREATE on the database to its login, or remove mail from the configuration.`,
      { cause: error },
    )
  }
}

function within(tx: Queryable): Db {
  return { executeSql: async (text, values = []) => ({ rows: await tx.rows(text, values) }) }
}

/** A mail as it waits in the queue. It is encrypted there, because it has tokens and addresses. */
export type StoredMail = MailContent & Pick<MailMessage, 'to' | 'cc' | 'onlyFor'> & { readonly until?: number }

export function sealMail(encryption: Encryption, id: string, { until, ...mail }: MailMessage): Buffer {
  const stored = { ...mail, ...(until && { until: until.getTime() }) }
  return encryption.encrypt(JSON.stringify(stored), contextOf(id))
}

/** Undefined if the mail was encrypted with another key, or has a template that this version does not know. */
export function unsealMail(
  encryption: Encryption,
  { id, sealed }: { readonly id: string; readonly sealed: Buffer },
): StoredMail | undefined {
  const text = encryption.decrypt(sealed, contextOf(id))
  const stored: unknown = text === undefined ? undefined : JSON.parse(text)
  return isStored(stored) ? stored : undefined
}

/** Only this program encrypts mail, so its template settles the rest. */
function isStored(value: unknown): value is StoredMail {
  return typeof value === 'object' && value !== null && 'template' in value && isTemplate(value.template)
}

/** Binds an encrypted mail to its job. */
const contextOf = (id: string): string => `mail ${id}`
