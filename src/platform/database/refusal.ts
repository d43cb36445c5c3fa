import type { Client } from 'pg'
import { codeOf } from './failure.ts'
import { OperatorError } from '../problems.ts'

/** Where a connection was to go. */
type Target = Pick<Client, 'host' | 'port' | 'user' | 'database'>

/** Says in one line why the database could not be opened and what to do. Never names the password. */
export function refusal(error: unknown, target: Target): OperatorError {
  return new OperatorError(reason(error, target), { cause: error })
}

function reason(error: unknown, { host, port, user, database }: Target): string {
  const place = `${host}:${port}`
  if (error instanceof Error && error.message.includes('client password must be a')) {
    return `The database at ${place} asks for a password: put it into its address, as in postgres://user:password@….`
  }
  switch (codeOf(error) ?? endOf(error)) {
    case '28P01':
    case '28000':
      return `The database at ${place} refuses the user "${user}": check the user and the password in its address.`
    case '3D000':
      return `There is no database "${database}" at ${place}: create it, or correct its name in the address.`
    case 'ECONNREFUSED':
    case 'ENOENT':
    case 'end':
      return `No database answers at ${place}: start PostgreSQL there, or correct the address.`
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The database's host "${host}" is not known: correct the address, or the name service.`
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
      return `The database's host "${host}" cannot be reached: check the network, or correct the address.`
    case '57P03':
      return `The database at ${place} is starting or stopping: try again in a moment.`
    case '08P01':
      return `What answers at ${place} is no PostgreSQL or a pooler (${wordsOf(error)}): give the address of PostgreSQL itself.`
    case '53300':
      return `The database at ${place} has no connection left: raise its max_connections, or close others.`
    default:
      return `The database at ${place} cannot be used: ${wordsOf(error)}.`
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** The driver now and then tells of the end of a connection before it tells why. */
function endOf(error: unknown): string {
  return error instanceof Error && error.message.startsWith('Connection terminated') ? 'end' : ''
}
