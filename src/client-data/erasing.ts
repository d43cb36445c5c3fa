import type { Logger } from 'pino'
import type { Config } from '../platform/config/config.ts'
import { openDatabase, type Database } from '../platform/database/database.ts'
import { createEach, type Each } from '../platform/flow/each.ts'
import { repeat } from '../platform/flow/repeat.ts'
import { applyRetention, eraseClient, readDue } from './store.ts'

interface ErasingNeeds {
  readonly database: Database
  readonly databaseUrl: string
  readonly retention: Config['retention']
  readonly log: Logger
  /** Polling interval in ms. Default: 5 s for erasures that are due, 10 min for the retention rule. */
  readonly pace?: { readonly due: number; readonly rule: number }
}

const defaultPace = { due: 5000, rule: 600_000 }

/**
 * Starts performing the erasures that are due, and scheduling those of the retention rule. Every instance does this. An
 * erasure is a single transaction, so a crash can neither leave it half done nor repeat it.
 */
export function startErasing(needs: ErasingNeeds): { close(): Promise<void> } {
  const { log, retention, pace = defaultPace } = needs
  const each = createEach({ label: (client: string) => ({ client }), failure: 'a client could not be erased yet', log })
  const erasing = repeat({ name: 'erasing clients', pause: pace.due, work: () => eraseDue(needs, each), log })
  const scheduling =
    retention.clients === undefined
      ? undefined
      : repeat({ name: 'the retention rule', pause: pace.rule, work: () => scheduleByRule(needs), log })
  return Object.freeze({
    async close() {
      await Promise.all([erasing.stop(), scheduling?.stop()])
    },
  })
}

/** Performs the erasures that are due. One that fails is tried again the next time. */
async function eraseDue({ database, databaseUrl, retention, log }: ErasingNeeds, each: Each<string>): Promise<void> {
  const waiting = retention.erasure_after
  const due = await readDue(database, waiting)
  if (due.length === 0) return
  // A long history takes longer than other statements may.
  const patient = openDatabase(databaseUrl, { log, connections: 1, statementTimeout: 0 })
  await each(due, async (clientId) => {
    const outcome = await eraseClient(patient, clientId, waiting)
    if (outcome === 'erased') log.info({ client: clientId }, 'a client was erased')
  })
  await patient.close()
}

async function scheduleByRule({ database, retention, log }: ErasingNeeds): Promise<void> {
  const { clients: kept, erasure_after: waiting } = retention
  if (kept === undefined) return
  const reason = `Retention rule: ${kept} after it was archived or deleted`
  const clients = await applyRetention(database, { kept, waiting, reason })
  if (clients > 0) log.info({ clients }, 'the retention rule scheduled erasures')
}
