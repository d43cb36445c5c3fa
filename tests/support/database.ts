import { randomUUID } from 'node:crypto'
import { Pool } from 'pg'
import { startCluster, template, type Cluster } from './cluster.ts'
import type { DatabasePatience } from '../../src/platform/database/database.ts'
import { inTime } from './until.ts'

type Shared = Pick<Cluster, 'url' | 'superuserUrl' | 'folder'>

export interface TestDatabase {
  /** The address as its owner, who is subject to row-level security as in production. */
  readonly url: string
  /** The address as a superuser, for what no owner may do. */
  readonly superuserUrl: string
  /** Drops it, even with open connections. */
  drop(): Promise<void>
}

/** Longer than a busy machine takes. Only the tests of a database that hangs take the product's own. */
export const patience: DatabasePatience = { statementTimeout: 60_000, callerPatience: 60_000 }

const variables = {
  url: 'TOLLGATE_TEST_CLUSTER',
  superuserUrl: 'TOLLGATE_TEST_SUPERUSER',
  folder: 'TOLLGATE_TEST_FOLDER',
}

/** Lets the test files of a run, which inherit the environment, use this cluster. */
export function shareCluster({ url, superuserUrl, folder }: Shared): void {
  process.env[variables.url] = url
  process.env[variables.superuserUrl] = superuserUrl
  process.env[variables.folder] = folder
}

let alone: Promise<Shared> | undefined

/** All databases of a test run are on one server. A test file that runs alone starts its own. */
async function findCluster(): Promise<Shared> {
  const { [variables.url]: url, [variables.superuserUrl]: superuserUrl, [variables.folder]: folder } = process.env
  if (url === undefined || superuserUrl === undefined || folder === undefined) return (alone ??= startCluster())
  return { url, superuserUrl, folder }
}

/** A folder that the test files of a run share, which is removed after it. */
export const sharedFolder = async (): Promise<string> => (await findCluster()).folder

/** Creates a database with all migrations applied, or with none if `empty`. */
export async function createTestDatabase({ empty = false } = {}): Promise<TestDatabase> {
  return copyOf(empty ? 'template0' : template)
}

/** Copies a test database. It must have no open connections. */
export function copyTestDatabase(url: string): Promise<TestDatabase> {
  return copyOf(new URL(url).pathname.slice(1))
}

/** The address of a database of this run as a superuser. */
export async function superuserAddress(name: string): Promise<string> {
  const { superuserUrl } = await findCluster()
  return withDatabase(superuserUrl, name)
}

async function copyOf(original: string): Promise<TestDatabase> {
  const cluster = await findCluster()
  const name = `test_${randomUUID().replaceAll('-', '')}`
  const owner = new URL(cluster.url).username
  await administer(
    cluster.superuserUrl,
    `create database ${name} template ${original} strategy file_copy owner ${owner}`,
  )
  return {
    url: withDatabase(cluster.url, name),
    superuserUrl: withDatabase(cluster.superuserUrl, name),
    drop: () => administer(cluster.superuserUrl, `drop database if exists ${name} with (force)`),
  }
}

function withDatabase(address: string, name: string): string {
  return Object.assign(new URL(address), { pathname: `/${name}` }).href
}

let administrators: Pool | undefined

/** Over a connection that this process keeps: opening one costs as much as most statements. */
async function administer(cluster: string, statement: string): Promise<void> {
  administrators ??= new Pool({
    connectionString: cluster,
    max: 1,
    allowExitOnIdle: true,
    idleTimeoutMillis: 60_000,
  }).on('error', () => undefined)
  await inTime(statement, administrators.query(statement))
}
