import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { connectionConfig, run } from '../platform/database-connection.ts'
import { codeOf } from '../platform/database-failure.ts'
import { refusal } from '../platform/database-refusal.ts'
import { OperatorError } from '../platform/problems.ts'

/** Who reads and changes records: nobody by itself, and by a person's role within a transaction. */
const portalUser = 'tollgate_portal'

/** What PostgreSQL says when the user is unknown, may not log in, or has another password. */
const notAllowed: ReadonlySet<string> = new Set(['28000', '28P01'])

/**
 * The address by which records are reached, from the address of the database's owner. The password is derived from the
 * owner's, so that every instance knows it and nothing more is configured; here it is set where it is not yet. Throws
 * OperatorError, one line, when the owner may not do that.
 */
export async function portalAddress(ownerUrl: string): Promise<string> {
  const url = new URL(ownerUrl)
  const password = derivedPassword(decodeURIComponent(url.password))
  url.username = portalUser
  url.password = password
  if (await logsIn(url.href)) return url.href
  await allowLogin(ownerUrl, password)
  if (await logsIn(url.href)) return url.href
  throw new OperatorError(
    `The user ${portalUser} cannot log in to the database, though its password is set: allow it in pg_hba.conf.`,
  )
}

/** Without a password of the owner there is nothing to keep secret: the server lets in by other means. */
function derivedPassword(ownerPassword: string): string {
  if (ownerPassword === '') return ''
  return createHmac('sha256', ownerPassword).update('tollgate portal').digest('base64url')
}

async function logsIn(url: string): Promise<boolean> {
  const client = new Client(connectionConfig(url, 0))
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (error) {
    if (notAllowed.has(codeOf(error) ?? '')) return false
    throw refusal(error, client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

const tries = 10

async function allowLogin(ownerUrl: string, password: string): Promise<void> {
  const secret = password === '' ? '' : ` password '${verifierOf(password)}'`
  const statement = `alter role ${portalUser} login noinherit${secret}`
  const owner = new Client(connectionConfig(ownerUrl, 0))
  owner.on('error', () => undefined)
  try {
    await owner.connect()
    for (let round = 1; ; round += 1) {
      try {
        await run(owner, statement)
        return
      } catch (error) {
        // Another instance does the same at this moment, and PostgreSQL says "tuple concurrently updated".
        if (codeOf(error) !== 'XX000' || round === tries) throw error
        await sleep(20 * round)
      }
    }
  } catch (error) {
    if (codeOf(error) !== '42501') throw refusal(error, owner)
    throw new OperatorError(
      `The user "${owner.user}" may not set the password of ${portalUser}. Have an administrator run this, then start again: ${statement}`,
      { cause: error },
    )
  } finally {
    await owner.end().catch(() => undefined)
  }
}

/** What PostgreSQL keeps of a password (RFC 5803), so that the password itself is in no statement and no log. */
function verifierOf(password: string): string {
  const [salt, iterations] = [randomBytes(16), 4096]
  const salted = pbkdf2Sync(password, salt, iterations, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${iterations}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`
}
