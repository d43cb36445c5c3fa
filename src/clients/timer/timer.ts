import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { newId } from '../../access/new-id.ts'
import { may, scopeOf } from '../../access/policy.ts'
import { Problem } from '../../platform/problems.ts'
import { archived } from '../items/outcomes.ts'
import { readClientStatus } from '../record/store.ts'
import type { NewTimer, OwnTimer, Timer } from './schema.ts'
import * as store from './store.ts'

/**
 * The timer of a person, from which a time entry is made. Whoever may add a time entry for a client may start one. Each person has at most
 * one, and it ends with the person's access to the client.
 */
export interface Timers {
  /** Writes an audit event if it says something of the client: not about a timer that is `known`. */
  read(visit: Visit, known?: string): Promise<OwnTimer>
  /**
   * Idempotent per person and `key` while the timer is there. Each timer needs a key of its own, since its id is the idempotency key of its time
   * entry. Throws Problem `conflict` if the person has another timer or the client is archived, and what
   * `RecordAccess.refuse` throws if the actor cannot see the client.
   */
  start(visit: Visit, clientId: string, body: NewTimer, key?: string): Promise<Timer>
  /** Idempotent. Throws Problem `not_found` if the person has no such timer. */
  stop(visit: Visit, id: string): Promise<Timer>
  /** Removes it, whether a time entry was made of it or not. Throws Problem `not_found` if the person has no such timer. */
  end(visit: Visit, id: string): Promise<void>
}

const scope = ({ actor }: Visit) => scopeOf(actor, 'create', 'time_entry')
const permits = ({ actor }: Visit, { consultantId }: { readonly consultantId: string }) =>
  may(actor, 'create', 'time_entry', { consultantId })

export function createTimers({ access }: { readonly access: RecordAccess }): Timers {
  return Object.freeze<Timers>({
    async read(visit, known) {
      const [[row]] = await access.as(visit, [store.readTimer(scope(visit))])
      if (!row || !permits(visit, row)) return { timer: null }
      if (row.id === known) return { timer: timesOf(row) }
      const { clientId } = row
      await access.note(visit, { action: 'timer_read', noun: 'client', clientId, nounId: clientId })
      return { timer: present(row) }
    },

    async start(visit, clientId, { text = '' }, key) {
      const audited = { action: 'timer_started', noun: 'client', clientId, nounId: clientId }
      const id = newId(visit, `${clientId}/timer`, key)
      const [, [client], [row]] = await access.as(visit, [
        store.insertTimer(scope(visit), { visit, clientId, id, text }),
        readClientStatus(scope(visit), clientId),
        store.readTimer(scope(visit)),
      ])
      if (!client || !permits(visit, { consultantId: client.consultant_id })) return access.refuse(visit, audited)
      if (row?.id === id) return present(row)
      return access.decline(visit, audited, client.status === 'archived' ? archived() : another())
    },

    async stop(visit, id) {
      const [, [row]] = await access.as(visit, [
        store.stopTimer(scope(visit), visit, id),
        store.readTimer(scope(visit)),
      ])
      if (row?.id !== id || !permits(visit, row)) return access.decline(visit, { action: 'timer_stopped' }, unknown())
      return present(row)
    },

    async end(visit, id) {
      const [[ended]] = await access.as(visit, [store.deleteTimer(scope(visit), visit, id)])
      if (!ended) await access.decline(visit, { action: 'timer_ended' }, unknown())
    },
  })
}

const mostMinutes = 1440

function timesOf({ id, startedAt, stoppedAt, seconds }: store.TimerRow): Timer {
  return {
    id,
    started_at: startedAt.toISOString(),
    stopped_at: stoppedAt?.toISOString() ?? null,
    seconds,
    minutes: Math.min(mostMinutes, Math.max(1, Math.round(seconds / 60))),
  }
}

function present(row: store.TimerRow): Timer {
  return { ...timesOf(row), client: { id: row.clientId, name: row.client }, text: row.text }
}

function another(): Problem {
  return new Problem('conflict', 'You have a timer already: record or delete its time before you start another one.')
}

function unknown(): Problem {
  const reason =
    'You have no such timer. It was recorded or deleted on another page, or ended because you no longer see its client.'
  return new Problem('not_found', reason)
}
