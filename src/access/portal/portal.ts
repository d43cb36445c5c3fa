import type { Logger } from 'pino'
import { openPipeline, type PreparedStatement, type RowsOf } from '../../platform/database/pipeline.ts'
import type { Actor, Role } from '../actor.ts'
import { setActor, setPerson } from './store.ts'
import { portalAddress } from './login.ts'
import { roleOf } from '../policy.ts'

/** The only access to client records: on behalf of an actor, under row-level security. */
export interface PortalDatabase {
  /**
   * Runs the statements as one transaction in one round trip, in the actor's PostgreSQL role, and returns the rows of
   * each. Throws the driver's error, or Problem `unavailable`.
   */
  as<const Statements extends readonly PreparedStatement[]>(
    actor: Actor,
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

/** Throws OperatorError if the portal's user cannot connect. */
export async function openPortal({ databaseUrl, ...options }: PortalNeeds): Promise<PortalDatabase> {
  const pipeline = openPipeline(await portalAddress(databaseUrl), options)

  async function as<const Statements extends readonly PreparedStatement[]>(
    actor: Actor,
    statements: Statements,
  ): Promise<RowsOf<Statements>>
  async function as(actor: Actor, statements: readonly PreparedStatement[]): Promise<readonly unknown[]> {
    const context = contextOf(actor)
    const [, ...results] = await pipeline.transact([context, ...statements.map((each) => named(each, actor))])
    return results
  }

  return Object.freeze({ as, close: () => pipeline.close() })
}

/** The statement that sets the role and the actor until the end of the transaction. */
export function contextOf(actor: Actor): PreparedStatement {
  if (actor.kind === 'person') return setPerson(actor)
  return setActor(requiredRole(actor), actor.kind, actor.kind === 'command' ? actor.user : '')
}

function requiredRole(actor: Actor): Role {
  const role = roleOf(actor)
  if (role === undefined) throw new Error(`no access to records for an actor of kind ${actor.kind}`)
  return role
}

/** A plan is for the row-level security of one role. If two roles shared it, PostgreSQL would replan at every change. */
function named({ name, text, values = [] }: PreparedStatement, actor: Actor): PreparedStatement {
  return { name: `${name} ${requiredRole(actor)}`, text, values }
}
