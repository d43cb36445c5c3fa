import type { AuditedAction, RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { recordedQuery } from '../access/audit/recorded-query.ts'

export type UsageAction = 'usage_read' | 'requests_read'

/** Records reads of usage, which were permitted before. */
export interface UsageReads {
  /** A page that stays open and repeats its read is recorded once in ten minutes. */
  page(visit: Visit, read: AuditedAction, query: Query): Promise<void>
  /** The same, and recorded each time. */
  once(visit: Visit, read: AuditedAction, query: Query): Promise<void>
}

/** What is recorded of it is described at `recordedQuery`. */
type Query = Readonly<Record<string, string | undefined>>

const repeated = 600_000
const mostRemembered = 1000

export function createUsageReads({ access }: { access: Pick<RecordAccess, 'note'> }): UsageReads {
  /** When each read was recorded, oldest first. */
  const recorded = new Map<string, number>()
  const once = (visit: Visit, read: AuditedAction, query: Query) =>
    access.note(visit, { ...read, details: recordedQuery(query) })

  return Object.freeze<UsageReads>({
    once,
    async page(visit, read, query) {
      const { actor } = visit
      const who = actor.kind === 'person' ? actor.id : actor.kind
      const id = JSON.stringify([who, read.action, read.nounId, recordedQuery(query)])
      const now = performance.now()
      const last = recorded.get(id)
      if (last !== undefined && now - last < repeated) return
      await once(visit, read, query)
      recorded.delete(id)
      recorded.set(id, now)
      const [oldest] = recorded.keys()
      if (recorded.size > mostRemembered && oldest !== undefined) recorded.delete(oldest)
    },
  })
}
