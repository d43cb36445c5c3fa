import type { Logger } from 'pino'
import type { Role } from '../people/people.ts'
import { openPipeline, type PreparedStatement, type RowsOf } from '../platform/database/pipeline.ts'
import { portalAddress } from './login.ts'
import type { Subject } from './policy.ts'

/** The one way to client records: always for somebody, under row-level security. */
export interface Portal {
  /**
   * Carries out the statements as one transaction in one round trip, with the role and the id of that person and of no
   * one else. Returns the rows of each. Throws the driver's error, or Problem `unavailable`.
   */
  as<const Statements extends readonly PreparedStatement[]>(
    person: Subject,
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  close(): Promise<void>
}

interface PortalNeeds {
  /** The address of the database, as its owner. */
  readonly databaseUrl: string
  readonly log: Logger
  readonly connections?: number
  readonly statementTimeout?: number
}

/** Throws OperatorError when the database does not let the portal's user in. */
export async function openPortal({ databaseUrl, ...options }: PortalNeeds): Promise<Portal> {
  const pipeline = openPipeline(await portalAddress(databaseUrl), options)

  async function as<const Statements extends readonly PreparedStatement[]>(
    person: Subject,
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  async function as({ id, role }: Subject, statements: readonly PreparedStatement[]): Promise<readonly unknown[]> {
    const [, ...results] = await pipeline.transact([
      contextOf(id, role),
      ...statements.map((each) => named(each, role)),
    ])
    return results
  }

  return Object.freeze({ as, close: () => pipeline.close() })
}

/**
 * Set locally: gone with the transaction, so that the next one begins with nothing. Who is a partner no more gets the
 * role of a consultant and is nobody in it, which reaches nothing.
 */
function contextOf(id: string | null, role: Role): PreparedStatement {
  const take = {
    consultant: `select set_config('role', portal_role('consultant'), true), set_config('tollgate.person', $1, true)`,
    partner: `select set_config('role', portal_role(case when partner then 'partner' else 'consultant' end), true),
        set_config('tollgate.person', case when partner then $1 else '' end, true)
      from is_partner(nullif($1, '')::uuid) as partner`,
  }
  return { name: `context ${role}`, text: take[role], values: [id ?? ''] }
}

/** A plan holds what row-level security adds for one role: shared by two, it would be made anew at every turn. */
function named({ name, text, values = [] }: PreparedStatement, role: Role): PreparedStatement {
  return { name: `${name} ${role}`, text, values }
}
