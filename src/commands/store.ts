import type { Queryable } from '../platform/database/database.ts'

export async function readServerVersion(database: Queryable): Promise<string> {
  const [server] = await database.rows<{ version: string }>(`select current_setting('server_version') as version`)
  if (server === undefined) throw new Error('the server reported no version')
  return server.version
}

/** The settings without which a power cut can lose committed transactions. */
export async function readDurabilitySettingsThatAreOff(database: Queryable): Promise<string[]> {
  const off = await database.rows<{ name: string }>(
    `select name from pg_settings where name in ('fsync', 'synchronous_commit') and setting = 'off' order by name`,
  )
  return off.map(({ name }) => name)
}

/** ms since the epoch by the database's clock. */
export async function readDatabaseClock(database: Queryable): Promise<number> {
  const [row] = await database.rows<{ now: Date }>('select clock_timestamp() as now')
  return row?.now.getTime() ?? Number.NaN
}

/** The most connections that the server, this database and its user admit together. */
export async function readMostConnections(database: Queryable): Promise<number> {
  const [row] = await database.rows<{ most: number }>(
    `select least(
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
         - coalesce(current_setting('reserved_connections', true)::int, 0),
       nullif(d.datconnlimit, -1), nullif(r.rolconnlimit, -1)) as most
     from pg_database d, pg_roles r where d.datname = current_database() and r.rolname = current_user`,
  )
  return row?.most ?? Number.NaN
}

/** Whether there are people who may sign in. */
export async function readHasPeople(database: Queryable): Promise<boolean> {
  const rows = await database.rows(`select from person where status = 'active' and deleted_at is null limit 1`)
  return rows.length > 0
}

/** Waits until no other instance creates the first account. */
export async function lockFirstAccount(tx: Queryable): Promise<void> {
  await tx.rows(`select pg_advisory_xact_lock(hashtext('tollgate first account'))`)
}
