import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { may } from '../access/policy.ts'
import { recordedQuery } from '../access/audit/recorded-query.ts'

/** Permits reads of usage to partners, and records each of them. */
export interface UsageReads {
  /** Throws Problem `forbidden` for others. A page that stays open and repeats its read is recorded once in ten minutes. */
  page(visit: Visit, action: UsageAction, query: Query): Promise<void>
  /** The same, and recorded each time. */
  once(visit: Visit, action: UsageAction, query: Query): Promise<void>
}

/** What is recorded of it is described at `recordedQuery`. */
type Query = Readonly<Record<string, string | undefined>>

type UsageAction = 'usage_read' | 'requests_read'

const repeated = 600_000
const mostRemembered = 1000

export function createUsageReads({ access }: { access: Pick<RecordAccess, 'note' | 'forbid'> }): UsageReads {
  /** When each read was recorded, oldest first. */
  const recorded = new Map<string, number>()

  async function once(visit: Visit, action: UsageAction, query: Query): Promise<void> {
    const deed = { action, noun: 'usage' }
    if (!may(visit.actor, 'read', 'usage')) await access.forbid(visit, deed, 'Only partners may see the usage.')
    await access.note(visit, { ...deed, details: recordedQuery(query) })
  }

  return Object.freeze({
    once,
    async page(visit: Visit, action: UsageAction, query: Query) {
      const { actor } = visit
      const id = JSON.stringify([actor.kind === 'person' ? actor.id : actor.kind, action, recordedQuery(query)])
      const now = performance.now()
      const last = recorded.get(id)
      if (last !== undefined && now - last < repeated && may(actor, 'read', 'usage')) return
      await once(visit, action, query)
      recorded.delete(id)
      recorded.set(id, now)
      const [oldest] = recorded.keys()
      if (recorded.size > mostRemembered && oldest !== undefined) recorded.delete(oldest)
    },
  } satisfies UsageReads)
}
