import type { Scope } from '../access/policy.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { clientJson, consultantOf, waitingIn, type ClientJson } from './store.ts'

export interface TaskJson {
  /** A task, or an open dispute that has to be answered by the day. */
  readonly noun: 'task' | 'dispute'
  readonly id: string
  /** The invoice of a dispute. */
  readonly title: string
  readonly due: string
  readonly priority: 'high' | 'normal' | 'low'
  readonly client: ClientJson
}

/** The numbers of open tasks of one person, by when they are due. */
export interface TaskCounts {
  readonly id: string
  readonly name: string
  readonly overdue: number
  readonly today: number
  readonly this_week: number
}

export interface TasksRow {
  /** Those of the person, the nearest first. */
  readonly items: readonly TaskJson[] | null
  /** Everyone who has some, by name. */
  readonly people: readonly TaskCounts[] | null
}

/** If there are more, those with the latest days are not counted. */
const countedTasks = 10_000
const listedTasks = 50

/** What an open task `t` and an open dispute `d` have to fulfil. */
const openTask = `t.status = 'open' and t.archived_at is null`
const openDispute = `d.status = 'open' and d.archived_at is null`

/**
 * The open tasks of active clients that are due by the end of the week, and how many each person has. The open disputes of that time are
 * among them, as tasks of the consultant: their days are read here and stored nowhere else.
 */
export function readDueTasks(
  scope: Scope,
  { personId, today, weekEnd }: { readonly personId: string | null; readonly today: string; readonly weekEnd: string },
): PreparedStatement<TasksRow> {
  return {
    name: `overview tasks ${scope.of}`,
    text: `with due as materialized (
        (select 'task' as noun, t.id, t.client_id, t.due, t.owner_id from ${waitingIn(scope, 'task t', 't.client_id')}
          where ${openTask} and t.due <= $3::date order by t.due, t.id limit ${countedTasks})
        union all
        (select 'dispute', d.id, d.client_id, d.due, null from ${waitingIn(scope, 'dispute d', 'd.client_id')}
          where ${openDispute} and d.due <= $3::date order by d.due, d.id limit ${countedTasks})
        order by due, id limit ${countedTasks}),
      owned as materialized (
        select due.noun, due.id, due.client_id, due.due, case when due.owner_id is null then c.consultant_id
          else task_owner(due.owner_id, c.consultant_id) end as owner
        from due cross join lateral (select consultant_id from client where client.id = due.client_id offset 0) c),
      shown as materialized (select * from owned where owner = $4::uuid order by due, id limit ${listedTasks}),
      counted as (
        select owner, count(*) filter (where due < $2::date)::int as overdue, count(*) filter (where due = $2::date)::int as today,
          count(*) filter (where due > $2::date)::int as this_week
        from owned group by owner)
      select
        (select json_agg(json_build_object('noun', shown.noun, 'id', shown.id, 'title', coalesce(t.title, d.invoice), 'due', shown.due,
              'priority', coalesce(t.priority, 'normal'), 'client', ${clientJson})
            order by shown.due, array_position(array['high', 'normal', 'low'], coalesce(t.priority, 'normal')), shown.id)
          from shown left join task t on shown.noun = 'task' and t.id = shown.id
            left join dispute d on shown.noun = 'dispute' and d.id = shown.id
            join client c on c.id = shown.client_id join person p on p.id = c.consultant_id) as items,
        (select json_agg(json_build_object('id', p.id, 'name', p.name, 'overdue', n.overdue, 'today', n.today, 'this_week', n.this_week)
            order by p.name, p.id)
          from counted n join person p on p.id = n.owner) as people`,
    values: [consultantOf(scope), today, weekEnd, personId],
  }
}

export interface DatedTaskRow {
  readonly noun: 'task' | 'dispute'
  readonly id: string
  readonly clientId: string
  /** The invoice of a dispute. */
  readonly title: string
  /** The name of the client. */
  readonly client: string
  readonly due: string
  readonly priority: 'high' | 'normal' | 'low'
  readonly updatedAt: Date
}

const mostDated = 2000

/**
 * The open tasks and disputes of active clients that have a day and are the person's, the earliest day first; of more than 2,000, the latest
 * are left out.
 */
export function readDatedTasks(scope: Scope, personId: string): PreparedStatement<DatedTaskRow> {
  const joined = (clientId: string) => (scope.of === 'all' ? ` join client c on c.id = ${clientId}` : '')
  return {
    name: `calendar tasks ${scope.of}`,
    text: `(select 'task' as noun, t.id, t.client_id as "clientId", t.title, c.name as client, t.due::text as due, t.priority,
          t.updated_at as "updatedAt"
        from ${waitingIn(scope, 'task t', 't.client_id')}${joined('t.client_id')}
        where ${openTask} and t.due is not null
          and case when t.owner_id is null then c.consultant_id else task_owner(t.owner_id, c.consultant_id) end = $2::uuid
        order by t.due, t.id limit ${mostDated})
      union all
      (select 'dispute', d.id, d.client_id, d.invoice, c.name, d.due::text, 'normal', d.updated_at
        from ${waitingIn(scope, 'dispute d', 'd.client_id')}${joined('d.client_id')}
        where ${openDispute} and d.due is not null and c.consultant_id = $2::uuid
        order by d.due, d.id limit ${mostDated})
      order by due, id limit ${mostDated}`,
    values: [consultantOf(scope), personId],
  }
}
