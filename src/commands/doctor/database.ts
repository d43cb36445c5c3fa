import { confirmCurrency } from '../../billing/currency/currency.ts'
import { clientFor } from '../../platform/database/admin-connection.ts'
import { readOnlyError } from '../../platform/database/connection-error.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { tryWrite } from '../../platform/database/write-probe-store.ts'
import { confirmEncryption } from '../../platform/encryption/encryption-check.ts'
import { OperatorError } from '../../platform/problems.ts'
import type { Context } from '../context.ts'
import {
  readDatabaseClock,
  readDurabilitySettingsThatAreOff,
  readMostConnections,
  readServerVersion,
} from '../store.ts'
import { surveyModels } from '../model/survey.ts'

/** The doctor's checks that need the database. None changes anything. */

const mostSkew = 2000
/** The most connections that a process uses, with erasures and monthly runs. */
export const connectionsPerProcess = 20

export async function checkDatabase(context: Context): Promise<string> {
  const database = await context.database()
  const version = await readServerVersion(database)
  if (!(await tryWrite(database))) throw readOnlyError(clientFor(await context.databaseUrl()))
  return `PostgreSQL ${version}; the schema is up to date`
}

export async function checkEncryptionKey(context: Context): Promise<string> {
  const known = await confirmEncryption(await context.database(), await context.config())
  return known ? "the one with which this database's secrets are encrypted" : 'none yet; the first start creates it'
}

export async function checkCurrency(context: Context): Promise<string> {
  const { currency } = await context.config()
  const isRecorded = await confirmCurrency(await context.database(), currency)
  return isRecorded ? `${currency}; no amount is in another one` : `${currency}; the first start records it`
}

export async function checkPortal(context: Context): Promise<string> {
  const { surveyPortalLogin } = await import('../../access/portal/login.ts')
  return surveyPortalLogin(await context.databaseUrl())
}

/** Reports only what is unsafe: `local` or `remote_apply` are the operator's choice. */
export async function checkDurability(context: Context): Promise<string> {
  const off = await readDurabilitySettingsThatAreOff(await context.database())
  if (off.length === 0) return 'committed transactions survive a power cut'
  throw new OperatorError(
    `A power cut could lose committed charges: turn ${off.join(' and ')} on, for the server, this database and its role.`,
  )
}

export async function checkClock(context: Context): Promise<string> {
  const fault = await faultOfClock(await context.database())
  if (fault !== undefined) throw new OperatorError(fault)
  return `within ${mostSkew / 1000} s of the database's`
}

/** Undefined if the database's clock and this one agree. */
export async function faultOfClock(database: Queryable): Promise<string | undefined> {
  const before = Date.now()
  const skew = (await readDatabaseClock(database)) - (before + Date.now()) / 2
  if (Math.abs(skew) <= mostSkew) return undefined
  return `This clock and the database's are ${Math.round(Math.abs(skew) / 1000)} s apart: synchronise both by NTP.`
}

export async function checkConnections(context: Context): Promise<string> {
  const { listen } = await context.config()
  const most = await readMostConnections(await context.database())
  const fault = faultOfConnections(most, listen.processes)
  if (fault !== undefined) throw new OperatorError(fault)
  return `${most} are admitted, and up to ${connectionsPerProcess * listen.processes} used`
}

/** Undefined if a database that admits so many connections has enough for the processes. */
export function faultOfConnections(most: number, processes: number): string | undefined {
  const used = connectionsPerProcess * processes
  if (most >= used) return undefined
  return `The database admits ${most} connections, and the service uses up to ${used}: raise max_connections or the limit of the user or the database, or lower listen.processes.`
}

export async function checkPrices(context: Context): Promise<string> {
  const unpriced = (await surveyModels(context)).filter(({ price }) => price === null).map(({ id }) => id)
  const [first] = unpriced
  if (first === undefined) return 'every model has one'
  throw new OperatorError(
    `Not callable, because they have no price: ${unpriced.join(', ')}. ` +
      `Add one to the configuration, or: ./tollgate price set ${first} --input 0.10 --output 0.40`,
  )
}
