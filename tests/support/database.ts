import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { startCluster, template } from './cluster.ts'

export interface TestDatabase {
  readonly url: string
  /** Removes it, whoever is still connected. */
  drop(): Promise<void>
}

/** Where the global set-up of a test run leaves the address of the run's cluster. */
export const clusterVariable = 'TOLLGATE_TEST_CLUSTER'

let alone: Promise<string> | undefined

/**
 * Makes a fresh database with all migrations applied. All of a run are on one PostgreSQL; a test file that is run
 * alone starts one of its own, which goes away with it. An empty one has no migrations.
 */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  return copyOf(empty ? 'template0' : template)
}

/** A copy of a test database that nobody is connected to. */
export function copyTestDatabase(url: string): Promise<TestDatabase> {
  return copyOf(new URL(url).pathname.slice(1))
}

async function copyOf(original: string): Promise<TestDatabase> {
  const cluster = process.env[clusterVariable] ?? (await (alone ??= startCluster().then(({ url }) => url)))
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await administer(cluster, `create database ${name} template ${original}`)
  const url = new URL(cluster)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(cluster, `drop database if exists ${name} with (force)`) }
}

async function administer(cluster: string, statement: string): Promise<void> {
  const client = new Client(cluster)
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
