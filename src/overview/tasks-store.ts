import type { Scope } from '../access/policy.ts'
import type { PreparedStatement } from '../platform/database/pipeline.ts'
import { clientJson, consultantOf, waitingIn, type ClientJson } from './store.ts'

export interface TaskJson {
  readonly id: string
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

/** The open tasks of active clients that are due by the end of the week, and how many each person has. */
export function readDueTasks(
  scope: Scope,
  { personId, today, weekEnd }: { readonly personId: string | null; readonly today: string; readonly weekEnd: string },
): PreparedStatement<TasksRow> {
  return {
    name: `overview tasks ${scope.of}`,
    text: `with due as materialized (
        select t.id, t.client_id, t.due, t.owner_id from ${waitingIn(scope, 'task t', 't.client_id')}
        where t.status = 'open' and t.archived_at is null and t.due <= $3::date
        order by t.due, t.id limit ${countedTasks}),
      owned as materialized (
        select due.id, due.client_id, due.due, case when due.owner_id is null then c.consultant_id
          else task_owner(due.owner_id, c.consultant_id) end as owner
        from due join client c on c.id = due.client_id),
      shown as materialized (select * from owned where owner = $4::uuid order by due, id limit ${listedTasks}),
      counted as (
        select owner, count(*) filter (where due < $2::date)::int as overdue, count(*) filter (where due = $2::date)::int as today,
          count(*) filter (where due > $2::date)::int as this_week
        from owned group by owner)
      select
        (select json_agg(json_build_object('id', t.id, 'title', t.title, 'due', t.due, 'priority', t.priority, 'client', ${clientJson})
            order by shown.due, array_position(array['high', 'normal', 'low'], t.priority), shown.id)
          from shown join task t on t.id = shown.id join client c on c.id = shown.client_id
            join person p on p.id = c.consultant_id) as items,
        (select json_agg(json_build_object('id', p.id, 'name', p.name, 'overdue', n.overdue, 'today', n.today, 'this_week', n.this_week)
            order by p.name, p.id)
          from counted n join person p on p.id = n.owner) as people`,
    values: [consultantOf(scope), today, weekEnd, personId],
  }
}

export interface DatedTaskRow {
  readonly id: string
  readonly clientId: string
  readonly title: string
  /** The name of the client. */
  readonly client: string
  readonly due: string
  readonly priority: 'high' | 'normal' | 'low'
  readonly updatedAt: Date
}

const mostDated = 2000

/** The open tasks of active clients that have a day and are the person's, the earliest day first; of more than 2,000, the latest are left out. */
export function readDatedTasks(scope: Scope, personId: string): PreparedStatement<DatedTaskRow> {
  return {
    name: `calendar tasks ${scope.of}`,
    text: `select t.id, t.client_id as "clientId", t.title, c.name as client, t.due::text as due, t.priority, t.updated_at as "updatedAt"
      from ${waitingIn(scope, 'task t', 't.client_id')}${scope.of === 'all' ? ' join client c on c.id = t.client_id' : ''}
      where t.status = 'open' and t.archived_at is null and t.due is not null
        and case when t.owner_id is null then c.consultant_id else task_owner(t.owner_id, c.consultant_id) end = $2::uuid
      order by t.due, t.id limit ${mostDated}`,
    values: [consultantOf(scope), personId],
  }
}
