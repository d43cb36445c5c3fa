import { OperatorError } from '../../platform/problems.ts'

/** A connection that ended too early: what came is kept, and the next try goes on from there. */
export class BrokenOff extends Error {
  override readonly name = 'BrokenOff'
}

const unreachable = new Set([
  'ENOTFOUND',
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTUNREACH',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
])
const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])
const forbidden = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOENT'])

/** What a status says to whoever asked for the file; undefined for one that may be another the next time. */
export function refusedStatus(status: number, host: string): OperatorError | undefined {
  if (status === 404 || status === 410)
    return new OperatorError(
      `${host} has no such file (${status}). Look at the owner, the repository and the file name.`,
    )
  if (status === 401 || status === 403)
    return new OperatorError(
      `${host} does not give this file to everybody (${status}). If it should be yours, put an access token into a file and add --token-file FILE.`,
    )
  if (status === 408 || status === 429 || status >= 500) return undefined
  return new OperatorError(
    `${host} answered with status ${status} instead of the file. Look whether the address is right.`,
  )
}

/** What went wrong with the connection or the disk, for the operator; BrokenOff where a new try may help. */
export function faultOf(error: unknown, host: string, folder: string): Error {
  if (error instanceof OperatorError || error instanceof BrokenOff) return error
  const code = codeOf(error)
  if (full.has(code))
    return new OperatorError(
      `The disk of ${folder} is full. Make room and run the command again: it goes on from here.`,
    )
  if (forbidden.has(code))
    return new OperatorError(
      `Nothing may be written to ${folder}. Give this user the right to, or name another place with --to.`,
    )
  if (unreachable.has(code)) return new Unreachable(code, host)
  if (/CERT|SIGNATURE|SELF_SIGNED|TLS|SSL/.test(code))
    return new OperatorError(`The certificate of ${host} is not one to trust (${code}). Nothing was downloaded.`)
  if (/^(?:UND_ERR|ECONN|EPIPE|HPE_)/.test(code)) return new BrokenOff(code)
  return error instanceof Error ? error : new Error(String(error))
}

/** There is no way to the host. At the first try that ends the download. */
export class Unreachable extends OperatorError {
  constructor(code: string, host: string) {
    super(
      `There is no way to ${host} (${code}). Look at the network; without one, copy a GGUF file here by other means and name it in tollgate.yaml.`,
    )
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
