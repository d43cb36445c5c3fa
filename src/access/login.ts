import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { connectionConfig, run } from '../platform/database/connection.ts'
import { codeOf } from '../platform/database/failure.ts'
import { refusal } from '../platform/database/refusal.ts'
import { scramVerifier } from '../platform/database/scram.ts'
import { OperatorError } from '../platform/problems.ts'

/** What PostgreSQL says when the user is unknown, may not log in, or has another password. */
const notAllowed: ReadonlySet<string> = new Set(['28000', '28P01'])
/** And when it may not connect to this database, or does not see what is in its schema. */
const notOpen: ReadonlySet<string> = new Set(['42501', '42883'])

/**
 * The address by which records are reached, from the address of the database's owner. The user is this database's own;
 * its password is derived from the owner's, so that every instance knows it and nothing more is configured; here it is
 * set where it is not yet. Throws OperatorError, one line, when the owner may not do that, or when a copy of the
 * database on the same server goes by the same user with another password.
 */
export async function portalAddress(ownerUrl: string): Promise<string> {
  const url = new URL(ownerUrl)
  const password = derivedPassword(decodeURIComponent(url.password))
  const login = await asOwner(ownerUrl, async (owner) => {
    const found = await readLogin(owner)
    if (found.temporary) await forbidTemporary(owner)
    return found
  })
  url.username = login.user
  url.password = password
  if ((await tryLogin(url.href)) === undefined) return url.href
  // Everybody may do this in a new database, but administrators often take it away.
  await asOwner(ownerUrl, (owner) => insist(owner, login.grants))
  const fault = await tryLogin(url.href)
  if (fault === undefined) return url.href
  if (notAllowed.has(fault)) await asOwner(ownerUrl, (owner) => allowLogin(owner, login, password))
  const last = await tryLogin(url.href)
  if (last === undefined) return url.href
  throw new OperatorError(
    notOpen.has(last)
      ? `The user ${login.user} may not use the database. Have an administrator run this, then start again: ${login.grants}`
      : `The user ${login.user} cannot log in to the database, though its password is set: allow it in pg_hba.conf.`,
  )
}

interface Login {
  readonly user: string
  /** Whether somebody has given it a password. */
  readonly inUse: boolean
  /** What lets it into this database. */
  readonly grants: string
  /** Whether it may create temporary tables. */
  readonly temporary: boolean
  /** Databases other than this one whose records it reaches. */
  readonly elsewhere: readonly string[]
}

async function asOwner<T>(ownerUrl: string, work: (owner: Client) => Promise<T>): Promise<T> {
  const owner = new Client(connectionConfig(ownerUrl, 0))
  owner.on('error', () => undefined)
  try {
    await owner.connect()
    return await work(owner)
  } catch (error) {
    throw error instanceof OperatorError ? error : refusal(error, owner)
  } finally {
    await owner.end().catch(() => undefined)
  }
}

async function readLogin(owner: Client): Promise<Login> {
  const [login] = await run<Login>(
    owner,
    `select portal_role('portal') as user, coalesce((select rolcanlogin from pg_roles where rolname = portal_role('portal')), false) as "inUse",
       format('grant connect on database %1$I to %2$I; grant usage on schema public to %2$I', current_database(), portal_role('portal')) as grants,
       has_database_privilege(portal_role('portal'), current_database(), 'temporary') as temporary,
       array(select distinct d.datname::text from pg_shdepend s join pg_database d on d.oid = s.dbid
         where s.refclassid = 'pg_authid'::regclass and d.datname <> current_database()
           and s.refobjid = (select oid from pg_roles where rolname = portal_role('partner'))) as elsewhere`,
  )
  if (login === undefined) throw new Error('the database did not say who reads its records')
  return login
}

/**
 * Everyone may create temporary tables in a new database or in a copy of one. Only the owner needs them. Where this user
 * may not revoke that, PostgreSQL says so in a notice, and the functions are immune all the same.
 */
async function forbidTemporary(owner: Client): Promise<void> {
  const [statement] = await run<{ text: string }>(
    owner,
    `select format('revoke temporary on database %I from public', current_database()) as text`,
  )
  if (statement !== undefined) await insist(owner, statement.text)
}

/** Without a password of the owner there is nothing to keep secret: the server lets in by other means. */
function derivedPassword(ownerPassword: string): string {
  if (ownerPassword === '') return ''
  return createHmac('sha256', ownerPassword).update('tollgate portal').digest('base64url')
}

/** The SQLSTATE of what keeps the user out that may be put right; undefined when nothing does. */
async function tryLogin(url: string): Promise<string | undefined> {
  const client = new Client(connectionConfig(url, 0))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await run(client, `select portal_role('portal')`)
    return undefined
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (notAllowed.has(code) || notOpen.has(code)) return code
    throw refusal(error, client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

const tries = 10

async function allowLogin(owner: Client, { user, inUse, elsewhere }: Login, password: string): Promise<void> {
  const secret = password === '' ? '' : ` password '${scramVerifier(password)}'`
  const statement = `alter role ${user} login noinherit${secret}`
  if (inUse && elsewhere.length > 0) {
    throw new OperatorError(
      `The database is a copy of "${elsewhere.join('", "')}" on the same server, or the other way round: ${user} belongs to both, and their owners have different passwords. Give it roles of its own (docs/operating.md, "Backup"), or let this one have the user: ${statement}`,
    )
  }
  try {
    await insist(owner, statement)
  } catch (error) {
    throw codeOf(error) === '42501' ? notPermitted(owner, user, statement, error) : error
  }
}

/** Another instance may do the same at this moment, and PostgreSQL says "tuple concurrently updated". */
async function insist(owner: Client, statement: string): Promise<void> {
  for (let round = 1; ; round += 1) {
    try {
      await run(owner, statement)
      return
    } catch (error) {
      if (codeOf(error) !== 'XX000' || round === tries) throw error
      await sleep(20 * round)
    }
  }
}

function notPermitted(owner: Client, user: string, statement: string, cause: unknown): OperatorError {
  return new OperatorError(
    `The user "${owner.user}" may not set the password of ${user}. Have an administrator run this, then start again: ${statement}`,
    { cause },
  )
}
