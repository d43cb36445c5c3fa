import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { startCluster, template } from './cluster.ts'

export interface TestDatabase {
  readonly url: string
  /** Drops it, even with open connections. */
  drop(): Promise<void>
}

/** The environment variable with the address of the run's cluster. */
export const clusterVariable = 'TOLLGATE_TEST_CLUSTER'

let alone: Promise<string> | undefined

/**
 * Creates a database with all migrations applied, or with none if `empty`. All databases of a test run are on one server.
 * A test file that runs alone starts its own.
 */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  return copyOf(empty ? 'template0' : template)
}

/** Copies a test database. It must have no open connections. */
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
