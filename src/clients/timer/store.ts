import type { Visit } from '../../access/actor.ts'
import type { Scope } from '../../access/policy.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { within } from '../statements-store.ts'

export interface TimerRow {
  readonly id: string
  readonly clientId: string
  /** The name of the client. */
  readonly client: string
  readonly consultantId: string
  readonly text: string
  readonly startedAt: Date
  readonly stoppedAt: Date | null
  /** For how long it has run. */
  readonly seconds: number
}

const ownTimer = `t.client_id = c.id and t.person_id = portal_person()`

/** The timer of the person on whose behalf the transaction runs. */
export function readTimer(scope: Scope): PreparedStatement<TimerRow> {
  const { condition, value, name } = within(scope)
  return {
    name: `timer ${name}`,
    // The clock may have been set back meanwhile.
    text: `select t.id, c.id as "clientId", c.name as client, c.consultant_id as "consultantId", t.text, t.started_at as "startedAt",
        t.stopped_at as "stoppedAt", greatest(0, extract(epoch from coalesce(t.stopped_at, record_time()) - t.started_at))::int as seconds
      from timer t join client c on ${ownTimer} and ${condition}`,
    values: [value],
  }
}

/**
 * Starts a timer of the person, unless one is there, and unless the client is archived or outside the scope. A hand-over of the client waits
 * for it, and then ends it.
 */
export function insertTimer(
  scope: Scope,
  { visit, clientId, id, text }: { visit: Visit; clientId: string; id: string; text: string },
): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `start timer ${name}`,
    text: `with here as materialized (
        select c.id from client c where ${condition} and c.id = $2 and c.status = 'active' for share),
      changed as (
        insert into timer (id, client_id, text) select $3, here.id, $4 from here on conflict do nothing returning client_id)
      ${noted('timer_started', 5)}`,
    values: [value, clientId, id, text, visit.requestId, visit.address],
  }
}

/** Returns no row if the person has no such timer that runs. */
export function stopTimer(scope: Scope, visit: Visit, id: string): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `stop timer ${name}`,
    text: `with changed as (
        update timer t set stopped_at = record_time() from client c
        where ${ownTimer} and ${condition} and t.id = $2 and t.stopped_at is null returning t.client_id)
      ${noted('timer_stopped', 3)}`,
    values: [value, id, visit.requestId, visit.address],
  }
}

/** Returns no row if the person has no such timer. */
export function deleteTimer(scope: Scope, visit: Visit, id: string): PreparedStatement {
  const { condition, value, name } = within(scope)
  return {
    name: `end timer ${name}`,
    text: `with changed as (
        delete from timer t using client c where ${ownTimer} and ${condition} and t.id = $2 returning t.client_id)
      ${noted('timer_ended', 3)}`,
    values: [value, id, visit.requestId, visit.address],
  }
}

/** The audit event of what `changed`. The actor comes from the transaction. */
const noted = (action: string, from: number): string =>
  `insert into audit (action, outcome, client_id, noun, noun_id, request_id, address)
    select '${action}', 'allowed', client_id, 'client', client_id, $${from}::text, $${from + 1}::text from changed returning true as done`

export interface ClientTimerRow {
  readonly person: { readonly id: string; readonly name: string }
  readonly text: string
  readonly started_at: string
  readonly stopped_at: string | null
}

/** Everyone's timers for a client. */
export function readTimersOf(
  scope: Scope,
  clientId: string,
): PreparedStatement<{ readonly timers: readonly ClientTimerRow[] | null }> {
  const { condition, value, name } = within(scope)
  return {
    name: `timers of client ${name}`,
    text: `select (select json_agg(json_build_object('person', json_build_object('id', p.id, 'name', p.name), 'text', t.text,
            'started_at', t.started_at, 'stopped_at', t.stopped_at) order by t.started_at)
          from timer t join person p on p.id = t.person_id where t.client_id = c.id) as timers
      from client c where ${condition} and c.id = $2`,
    values: [value, clientId],
  }
}
