import type { Visit } from '../access/actor.ts'
import type { Scope } from '../access/policy.ts'

/** A scope as a part of a statement. */
interface ScopeClause {
  /** The SQL condition on the client `c`. It uses `$1`. */
  readonly condition: string
  /** The value of `$1`. */
  readonly value: string | null
  /** A part of the name of the prepared statement, since each scope has its own text. */
  readonly name: Scope['of']
}

/**
 * The condition that a client exists and is within the scope. Each kind of scope has its own statement text, so that
 * PostgreSQL plans for it. Row-level security alone would filter every client row first.
 */
export function within(scope: Scope): ScopeClause {
  const condition = {
    consultant: 'c.deleted_at is null and c.consultant_id = $1::uuid',
    all: 'c.deleted_at is null and $1::uuid is null',
    none: 'false and $1::uuid is null',
  }[scope.of]
  return { condition, value: scope.of === 'consultant' ? scope.id : null, name: scope.of }
}

/** The condition that a client is deleted, but not erased. Only those who may see every client see deleted ones. */
export function deletedWithin(scope: Scope): ScopeClause {
  const deleted = `c.deleted_at is not null and $1::uuid is null
    and not exists (select from erased_client e where e.client_id = c.id)`
  const condition = scope.of === 'all' ? deleted : 'false and $1::uuid is null'
  return { condition, value: null, name: scope.of }
}

/** A person as JSON, from an outer-joined row; null without a person. */
export function personJson(row: string): string {
  return `case when ${row}.id is null then null else json_build_object('id', ${row}.id, 'name', ${row}.name) end`
}

/** The result of an update of an existing row. */
export interface UpdateResult {
  /** Whether any value was new. */
  readonly changed: boolean
}

/** The condition that a JSON parameter changes a value of `row`. */
export function differs(row: string, columns: readonly string[], parameter: string): string {
  const of = (source: string) => columns.map((column) => `${source}.${column}`).join(', ')
  return `exists (select from jsonb_populate_record(${row}, ${parameter}::jsonb) r
    where (${of('r')}) is distinct from (${of(row)}))`
}

/**
 * The part of a statement that inserts an audit event for each row of its `changed`, which has `client_id`, `id` and
 * `version`, and returns a row with `done` for each. The actor comes from the transaction. The parameters from number
 * `from` on are `loggedValues`.
 */
export function logged(noun: string, action: string, from: number): string {
  return `insert into audit (action, outcome, client_id, noun, noun_id, request_id, address, details)
    select ${action}, 'allowed', changed.client_id, '${noun}', changed.id, $${from}::text,
      $${from + 1}::text, jsonb_build_object('version', changed.version::text, 'fields', $${from + 2}::text)
    from changed returning true as done`
}

export function loggedValues({ requestId, address }: Visit, fields: readonly string[]): (string | undefined)[] {
  return [requestId, address, fields.join(' ')]
}
