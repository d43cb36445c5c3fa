import type { Scope } from '../access/policy.ts'

/** Which clients a statement reaches. */
interface Reach {
  /** The condition on the client, `c`, with `$1` in it. */
  readonly condition: string
  /** `$1`. */
  readonly value: string | null
  /** Part of the statement's name, which stands for one text. */
  readonly name: Scope['of']
}

/**
 * The condition that a client is there and within the scope. A statement has one text for each kind of scope, so that
 * PostgreSQL plans for that one: row-level security alone would look at every client before anything else.
 */
export function within(scope: Scope): Reach {
  const condition = {
    consultant: 'c.deleted_at is null and c.consultant_id = $1::uuid',
    all: 'c.deleted_at is null and $1::uuid is null',
    none: 'false and $1::uuid is null',
  }[scope.of]
  return { condition, value: scope.of === 'consultant' ? scope.id : null, name: scope.of }
}

/** A person as JSON, from a joined row; null where there is nobody. */
export function personJson(row: string): string {
  return `case when ${row}.id is null then null else json_build_object('id', ${row}.id, 'name', ${row}.name) end`
}

/** What became of a change of something that was there to be changed. */
export interface Change {
  /** Whether it brought anything new. */
  readonly changed: boolean
}

/** The condition that a JSON parameter has other values for the columns of `row` than it has. */
export function differs(row: string, columns: readonly string[], parameter: string): string {
  const of = (source: string) => columns.map((column) => `${source}.${column}`).join(', ')
  return `exists (select from jsonb_populate_record(${row}, ${parameter}::jsonb) r
    where (${of('r')}) is distinct from (${of(row)}))`
}
