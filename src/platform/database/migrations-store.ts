import type { Client } from 'pg'
import { run } from './connection.ts'

/** A migration that was applied to the database. */
export interface AppliedMigration {
  readonly number: number
  readonly name: string
  readonly checksum: string
}

/** A function whose file was applied to the database. */
export interface AppliedFunction {
  readonly name: string
  readonly checksum: string
}

/** A SQL function that this version of Tollgate ships, with its triggers and rights, if they are in its file. */
export interface FunctionFile extends AppliedFunction {
  readonly sql: string
}

export interface ServerFacts {
  /** `server_version_num`: 180004 for 18.4. */
  readonly number: string
  readonly version: string
  readonly encoding: string
  /** The id of the server process of this connection. */
  readonly backend: number
}

// An arbitrary constant: the process that migrates a database holds the advisory lock with this key.
const migrationLock = 7_265_538_911

export async function readServer(client: Client): Promise<ServerFacts | undefined> {
  const [server] = await run<ServerFacts>(
    client,
    `select current_setting('server_version_num') as number, current_setting('server_version') as version,
       current_setting('server_encoding') as encoding, pg_backend_pid() as backend`,
  )
  return server
}

export async function lockMigrations(client: Client): Promise<void> {
  await run(client, 'select pg_advisory_lock($1)', [migrationLock])
}

/** The id of the server process of this connection. */
export async function readBackend(client: Client): Promise<number | undefined> {
  const [backend] = await run<{ pid: number }>(client, 'select pg_backend_pid() as pid')
  return backend?.pid
}

/** Begins a transaction, and returns the id of the server process that has it. */
export async function beginTransaction(client: Client): Promise<number | undefined> {
  await run(client, 'begin')
  return readBackend(client)
}

/** Ends a connection of this user, and what it runs or waits for. */
export async function endBackend(client: Client, pid: number | undefined): Promise<void> {
  await run(client, 'select pg_terminate_backend($1)', [pid])
}

/** Whether there is a history of Tollgate's migrations. Other programs may have a table of that name. */
export async function hasHistory(client: Client): Promise<boolean> {
  const [history] = await run<{ exists: boolean }>(
    client,
    `select count(*) = 3 as exists from pg_attribute
     where attrelid = to_regclass('migration') and attname in ('number', 'name', 'checksum')`,
  )
  return history?.exists === true
}

/** Whether the schema `public` contains any table. */
export async function hasTables(client: Client): Promise<boolean> {
  const tables = await run(
    client,
    `select from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') limit 1`,
  )
  return tables.length > 0
}

export async function createMigrationTable(client: Client): Promise<void> {
  await run(
    client,
    `create table migration (
      number integer primary key, name text not null, checksum text not null,
      at timestamptz not null default now()
    )`,
  )
}

/** In the order in which they were applied. */
export function readHistory(client: Client): Promise<AppliedMigration[]> {
  return run(client, 'select number, name, checksum from migration order by number')
}

/**
 * Runs one migration and records it, in one transaction. Fails with 55P03 if it waits too long for a lock (`limitLockWaits`). After a
 * rejection the transaction must be rolled back.
 */
export async function applyMigration(client: Client, migration: AppliedMigration, sql: string): Promise<void> {
  await run(client, 'begin')
  await run(client, sql)
  await run(client, 'insert into migration (number, name, checksum) values ($1, $2, $3)', [
    migration.number,
    migration.name,
    migration.checksum,
  ])
  await run(client, 'commit')
}

export function readAppliedFunctions(client: Client): Promise<AppliedFunction[]> {
  return run(client, 'select name, checksum from sql_function')
}

/** Creates or replaces functions and records their files, in one transaction. Fails as `applyMigration` does. */
export async function applyFunctions(client: Client, functions: readonly FunctionFile[]): Promise<void> {
  await run(client, 'begin')
  for (const { sql } of functions) await run(client, sql)
  await recordFunctions(client, functions)
  await run(client, 'commit')
}

/** What makes a new database. */
export interface NewSchema {
  readonly schema: string
  /** Those that the schema needs, and the others, each in the order in which to create them. */
  readonly first: readonly FunctionFile[]
  readonly others: readonly FunctionFile[]
  /** The migrations whose result the schema is. */
  readonly migrations: readonly AppliedMigration[]
}

/** Creates everything in one transaction. Fails as `applyMigration` does. */
export async function createSchema(client: Client, { schema, first, others, migrations }: NewSchema): Promise<void> {
  await run(client, 'begin')
  // The bodies of the first name tables that do not exist yet.
  await run(client, 'set local check_function_bodies = off')
  for (const { sql } of first) await run(client, sql)
  await run(client, schema)
  await run(client, 'set local check_function_bodies = on')
  for (const { sql } of others) await run(client, sql)
  await recordFunctions(client, [...first, ...others])
  await run(
    client,
    'insert into migration (number, name, checksum) select * from unnest($1::integer[], $2::text[], $3::text[])',
    [
      migrations.map(({ number }) => number),
      migrations.map(({ name }) => name),
      migrations.map(({ checksum }) => checksum),
    ],
  )
  await run(client, 'commit')
}

async function recordFunctions(client: Client, functions: readonly AppliedFunction[]): Promise<void> {
  await run(
    client,
    `insert into sql_function (name, checksum) select * from unnest($1::text[], $2::text[])
     on conflict (name) do update set checksum = excluded.checksum`,
    [functions.map(({ name }) => name), functions.map(({ checksum }) => checksum)],
  )
}

/**
 * Sets for how many ms the transactions of this connection wait for each lock: while one waits, everybody else who needs that table, or
 * one that it has locked already, waits behind it.
 */
export async function limitLockWaits(client: Client, ms: number): Promise<void> {
  await run(client, `select set_config('lock_timeout', $1, false)`, [String(ms)])
}

/** Cancels the statement of a session that waits for a lock: it fails with 57014. */
export async function cancelLockWait(client: Client, pid: number | undefined): Promise<void> {
  await run(client, `select pg_cancel_backend(pid) from pg_stat_activity where pid = $1 and wait_event_type = 'Lock'`, [
    pid,
  ])
}

export async function rollBack(client: Client): Promise<void> {
  await run(client, 'rollback')
}

/** A session whose locks another one waits for. */
export interface BlockingSession {
  readonly pid: number
  readonly application: string
  /** When its transaction began. */
  readonly since: Date | null
  /** The first word of its last statement, whose rest may have customers' text. */
  readonly command: string
}

/** The oldest session that this one waits for; undefined if it waits for none. */
export async function readBlocker(client: Client, pid: number | undefined): Promise<BlockingSession | undefined> {
  const [session] = await run<BlockingSession>(
    client,
    `select pid, coalesce(nullif(application_name, ''), 'unknown') as application, xact_start as since,
       coalesce(substring(query from '^\\s*(\\w+)'), 'unknown') as command
     from pg_stat_activity where pid = any(pg_blocking_pids($1)) order by xact_start limit 1`,
    [pid],
  )
  return session
}
