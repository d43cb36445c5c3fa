import type { Client } from 'pg'
import { scramVerifier } from '../database/scram.ts'

// An arbitrary constant: every process that uses the server shares the advisory lock with this key.
const leaseLock = 5_310_442_607

export async function hasDatabase(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query('select from pg_database where datname = $1', [name])
  return rows.length > 0
}

/** Creates an ordinary user who may create roles, unless it exists. */
export async function ensureOwner(superuser: Client, name: string, password: string): Promise<void> {
  const { rows } = await superuser.query('select from pg_roles where rolname = $1', [name])
  if (rows.length > 0) return
  await superuser.query(`create role ${name} login createrole password '${scramVerifier(password)}'`)
}

export async function ensureDatabase(superuser: Client, name: string, owner: string): Promise<void> {
  if (!(await hasDatabase(superuser, name))) await superuser.query(`create database ${name} owner ${owner}`)
}

export async function shareLeaseLock(client: Client): Promise<void> {
  await client.query('select pg_advisory_lock_shared($1)', [leaseLock])
}

/** Whether no other connection shares the lock. */
export async function isLastLease(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [leaseLock])
  return rows[0]?.alone === true
}
