import { createHmac } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { connectionConfig, run } from '../../platform/database/connection.ts'
import { codeOf } from '../../platform/database/failure.ts'
import { connectionError } from '../../platform/database/connection-error.ts'
import { scramVerifier } from '../../platform/database/scram.ts'
import { OperatorError } from '../../platform/problems.ts'
import { callFunction, loginStatement, readLogin, readTemporaryRevocation, type Login } from './store.ts'

/** The SQLSTATE of a user who may not log in, or whom pg_hba.conf does not admit. */
const notAuthorized = '28000'
/** The SQLSTATEs of a user who is unknown, may not log in, or has another password. */
const notAllowed: ReadonlySet<string> = new Set([notAuthorized, '28P01'])
/** The SQLSTATEs of a user who may not connect to the database, or may not use its schema. */
const notOpen: ReadonlySet<string> = new Set(['42501', '42883'])

/**
 * Returns the address at which the portal's user connects, given the owner's. Each database has its own user. Its
 * password is derived from the owner's, so that every instance knows it without another setting, and is set here if it
 * is not set yet. Throws OperatorError, one line, if the owner may not set it, or if a copy of the database on the same
 * server uses the same user with another password.
 */
export async function portalAddress(ownerUrl: string): Promise<string> {
  const login = await asOwner(ownerUrl, async (owner) => {
    const found = await readLogin(owner)
    if (found.temporary) await forbidTemporary(owner)
    return found
  })
  const { address, password } = addressFor(login, ownerUrl)
  if ((await tryLogin(address)) === undefined) return address
  // Everyone has these rights in a new database, but administrators often revoke them.
  await asOwner(ownerUrl, (owner) => insist(owner, login.grants))
  const fault = await tryLogin(address)
  if (fault === undefined) return address
  if (isNotAdmitted(fault, login)) throw notAdmitted(login, address)
  if (notAllowed.has(fault.code)) {
    requireSettable(login)
    await asOwner(ownerUrl, (owner) => insist(owner, passwordStatement(login, password)))
  }
  const last = await tryLogin(address)
  if (last === undefined) return address
  throw notOpen.has(last.code) ? notGranted(login, address) : notAdmitted(login, address)
}

/**
 * Whether the portal's user can log in, or the next start can set it up. Changes nothing. Throws OperatorError, one line, if an
 * administrator has to run something first.
 */
export async function surveyPortalLogin(ownerUrl: string): Promise<string> {
  const login = await asOwner(ownerUrl, readLogin)
  const { address } = addressFor(login, ownerUrl)
  const fault = await tryLogin(address)
  if (fault === undefined) return `${login.user} can log in to the database`
  if (notOpen.has(fault.code) && !login.grantable) throw notGranted(login, address)
  if (isNotAdmitted(fault, login)) throw notAdmitted(login, address)
  if (notAllowed.has(fault.code)) requireSettable(login)
  return `the next start lets ${login.user} log in to the database`
}

/**
 * The statement that lets the portal's user log in, for an administrator to run. It contains a verifier of the password, so it does not
 * belong in a log.
 */
export async function portalLoginStatement(ownerUrl: string): Promise<string> {
  const login = await asOwner(ownerUrl, readLogin)
  return passwordStatement(login, addressFor(login, ownerUrl).password)
}

function addressFor({ user }: Login, ownerUrl: string): { address: string; password: string } {
  const url = new URL(ownerUrl)
  const password = derivedPassword(decodeURIComponent(url.password))
  url.username = user
  url.password = password
  return { address: url.href, password }
}

async function asOwner<T>(ownerUrl: string, work: (owner: Client) => Promise<T>): Promise<T> {
  const owner = new Client(connectionConfig(ownerUrl, 0))
  owner.on('error', () => undefined)
  try {
    await owner.connect()
    return await work(owner)
  } catch (error) {
    throw error instanceof OperatorError ? error : connectionError(error, owner)
  } finally {
    await owner.end().catch(() => undefined)
  }
}

/**
 * PostgreSQL lets everyone create temporary tables in a new or copied database, but only the owner needs them. Where the
 * owner may not revoke that, PostgreSQL only raises a notice. The functions are safe either way.
 */
async function forbidTemporary(owner: Client): Promise<void> {
  await insist(owner, await readTemporaryRevocation(owner))
}

/** Empty if the owner has none: then the server authenticates users by other means. */
function derivedPassword(ownerPassword: string): string {
  if (ownerPassword === '') return ''
  return createHmac('sha256', ownerPassword).update('tollgate portal').digest('base64url')
}

interface LoginFault {
  /** The SQLSTATE. */
  readonly code: string
  readonly message: string
}

/**
 * Whether pg_hba.conf rejects the user. PostgreSQL checks that file first, and its message names the file in every language. A user who
 * may log in, and whose password is right or not needed, can be rejected by nothing else.
 */
function isNotAdmitted({ code, message }: LoginFault, { inUse }: Login): boolean {
  return code === notAuthorized && (inUse || message.includes('pg_hba.conf'))
}

/** Returns the fault if the user lacks a right that can be granted, undefined if it can connect. */
async function tryLogin(url: string): Promise<LoginFault | undefined> {
  const client = new Client(connectionConfig(url, 0))
  client.on('error', () => undefined)
  try {
    await client.connect()
    await callFunction(client)
    return undefined
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (error instanceof Error && (notAllowed.has(code) || notOpen.has(code))) return { code, message: error.message }
    throw connectionError(error, client)
  } finally {
    await client.end().catch(() => undefined)
  }
}

const attempts = 10

/** Checked first: PostgreSQL logs a statement that it refuses, and this one contains a verifier of the password. */
function requireSettable(login: Login): void {
  if (isCopied(login)) throw copied(login)
  if (!login.settable) throw notPermitted(login)
}

const passwordStatement = ({ user }: Login, password: string): string =>
  loginStatement(user, password === '' ? undefined : scramVerifier(password))

/** A new password would lock out the other database. */
const isCopied = ({ inUse, elsewhere }: Login): boolean => inUse && elsewhere.length > 0

/** Retries when another instance runs the same statement and PostgreSQL reports "tuple concurrently updated". */
async function insist(owner: Client, statement: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await run(owner, statement)
      return
    } catch (error) {
      if (codeOf(error) !== 'XX000' || attempt === attempts) throw error
      await sleep(20 * attempt)
    }
  }
}

/** Names the database without the password. */
function placeOf(address: string): string {
  const { database, host, port } = new Client(connectionConfig(address, 0))
  return `the database "${database}" at ${host}:${port}`
}

const printsStatement = './tollgate doctor --portal-sql prints'

function copied({ user, elsewhere }: Login): OperatorError {
  return new OperatorError(
    `This database and "${elsewhere.join('", "')}" on the same server are copies of each other: they share the user ${user}, and their owners have different passwords. Give this database its own roles (docs/operating.md, "Backup"), or give it the user: have an administrator run the statement that ${printsStatement}.`,
  )
}

function notAdmitted({ user }: Login, address: string): OperatorError {
  return new OperatorError(
    `The user ${user} cannot log in to ${placeOf(address)}, because the server does not admit it: allow it in pg_hba.conf.`,
  )
}

function notGranted({ user, grants }: Login, address: string): OperatorError {
  return new OperatorError(
    `The user ${user} may not use ${placeOf(address)}. Have an administrator run this, then start again: ${grants}`,
  )
}

function notPermitted({ owner, user }: Login): OperatorError {
  return new OperatorError(
    `The user "${owner}" may not set the password of ${user}. Have an administrator run the statement that ${printsStatement}, then start again.`,
  )
}
