import { OperatorError } from '../../platform/problems.ts'

/** The connection ended too early. The received bytes are kept, and the next attempt resumes after them. */
export class ConnectionBroken extends Error {
  override readonly name = 'ConnectionBroken'
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

/** The error for a final status; undefined for a status that may change on the next attempt. */
export function refusedStatus(status: number, host: string): OperatorError | undefined {
  if (status === 404 || status === 410)
    return new OperatorError(`${host} has no such file (${status}). Check the owner, the repository and the file name.`)
  if (status === 401 || status === 403)
    return new OperatorError(
      `${host} does not permit access to this file (${status}). If you have access, put an access token into a file and add --token-file FILE.`,
    )
  if (status === 408 || status === 429 || status >= 500) return undefined
  return new OperatorError(`${host} answered with status ${status} instead of the file. Check the address.`)
}

/** Explains an error of the connection or the disk to the operator. Returns ConnectionBroken if another attempt may help. */
export function faultOf(error: unknown, host: string, folder: string): Error {
  if (error instanceof OperatorError || error instanceof ConnectionBroken) return error
  const code = codeOf(error)
  if (full.has(code))
    return new OperatorError(
      `The disk of ${folder} is full. Free some space and run the command again: it resumes the download.`,
    )
  if (forbidden.has(code))
    return new OperatorError(
      `No permission to write to ${folder}. Change the permissions, or choose another place with --to.`,
    )
  if (unreachable.has(code)) return new Unreachable(code, host)
  if (/CERT|SIGNATURE|SELF_SIGNED|TLS|SSL/.test(code))
    return new OperatorError(`The certificate of ${host} is not trusted (${code}). Nothing was downloaded.`)
  if (/^(?:UND_ERR|ECONN|EPIPE|HPE_)/.test(code)) return new ConnectionBroken(code)
  return error instanceof Error ? error : new Error(String(error))
}

/** The host cannot be reached. On the first attempt this ends the download. */
export class Unreachable extends OperatorError {
  constructor(code: string, host: string) {
    super(
      `${host} cannot be reached (${code}). Check the network. Without a network, copy a GGUF file here by other means and name it in tollgate.yaml.`,
    )
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
