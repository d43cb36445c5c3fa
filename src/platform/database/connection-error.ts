import type { Client } from 'pg'
import { codeOf, noAnswer } from './failure.ts'
import { OperatorError } from '../problems.ts'

type Target = Pick<Client, 'host' | 'port' | 'user' | 'database'>

/** States in one line why the database could not be opened or used and what to do. Never includes the password. */
export function connectionError(error: unknown, target: Target): OperatorError {
  return new OperatorError(reason(error, target), { cause: error })
}

/** The same for a database that was found to accept no writes. */
export function readOnlyError({ host, port }: Target): OperatorError {
  return new OperatorError(noWrites(`${host}:${port}`))
}

/** States that the server is a pooler that gives each transaction another connection to PostgreSQL. */
export function poolerError({ host, port }: Target): OperatorError {
  return new OperatorError(
    `The server at ${host}:${port} is a pooler in transaction mode, which breaks the till: use the address of PostgreSQL itself, or session mode.`,
  )
}

const noWrites = (server: string): string =>
  `The database at ${server} accepts no writes: name the primary if this is a standby, or turn default_transaction_read_only off.`

function reason(error: unknown, { host, port, user, database }: Target): string {
  const server = `${host}:${port}`
  if (error instanceof Error && error.message.includes('client password must be a')) {
    return `The database at ${server} requires a password: add it to the address, as in postgres://user:password@….`
  }
  if (error instanceof Error && noAnswer.test(error.message)) {
    return `The database at ${server} does not respond: check that PostgreSQL runs there, that its disk is not full, and that no firewall blocks it.`
  }
  switch (codeOf(error) ?? endOf(error)) {
    case '28P01':
      return `The database at ${server} refuses the user "${user}": check the user and the password in its address.`
    case '28000':
      return messageOf(error).includes('pg_hba.conf')
        ? `The server at ${server} does not admit the user "${user}" to the database "${database}": allow it in pg_hba.conf.`
        : `The user "${user}" may not log in to the database at ${server}: name another in its address, or have an administrator run: alter role "${user}" login`
    case '42501':
      return `The user "${user}" lacks a right in the database "${database}" at ${server} (${messageOf(error)}): name the database's owner in its address, or have an administrator grant the right.`
    case '25006':
      return noWrites(server)
    case '53100':
      return `The disk of the database at ${server} is full: free some space there.`
    case '3D000':
      return `There is no database "${database}" at ${server}: create it, or correct its name in the address.`
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'ENOENT':
    case 'end':
      return `No database answers at ${server}: start PostgreSQL there, or correct the address.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The database's host "${host}" cannot be resolved: correct the address, or check DNS.`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `The database's host "${host}" cannot be reached: check the network, or correct the address.`
    case '57P01':
    case '57P03':
      return `The database at ${server} is starting or stopping: try again in a moment.`
    case '08P01':
      return `The server at ${server} is a pooler, or is not PostgreSQL (${messageOf(error)}): give the address of PostgreSQL itself.`
    case '53300':
      return `The database at ${server} has no free connection (${messageOf(error)}): raise max_connections or the limit of the user or the database, or close others.`
    default:
      return `The database at ${server} cannot be used: ${messageOf(error)}.`
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The driver sometimes reports the end of a connection before its cause. */
function endOf(error: unknown): string {
  return error instanceof Error && error.message.startsWith('Connection terminated') ? 'end' : ''
}
