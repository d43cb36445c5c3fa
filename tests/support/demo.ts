import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Client } from 'pg'
import { parse, stringify } from 'yaml'
import { withFileLock } from '../../src/platform/system/file-lock.ts'
import { copyTestDatabase, createTestDatabase, sharedFolder } from './database.ts'
import { at } from './json.ts'
import { freePorts, start } from './start.ts'

/**
 * Starts the demo on a copy of the one that this run has prepared. `configuration` is the text of tollgate.yaml. Unless it has models,
 * there is one that cannot be reached, which saves the local model's process.
 */
export async function startDemo(configuration = '{}') {
  const prepared = await prepare()
  // The amounts of the prepared one are in its currency.
  const isOwn = at(parse(configuration), 'currency') !== undefined
  const database = isOwn ? await createTestDatabase() : await copyTestDatabase(prepared.url)
  const folder = await createFolder()
  await cp(dataIn(prepared.folder), dataIn(folder), { recursive: true })
  const demo = await run(folder, withModel(configuration), { DATABASE_URL: database.url })
  return {
    ...demo,
    /** Starts it again on the same data, with another configuration. */
    restart: (changed: string) => demo.restart(withModel(changed)),
    async close() {
      await demo.end()
      await rm(folder, { recursive: true })
      await database.drop()
    },
  }
}

/** Starts the demo as the first `npm start` does: with an empty data folder and its own database server. */
export async function startNewDemo() {
  const folder = await createFolder()
  const demo = await run(folder, '{}')
  return {
    base: demo.base,
    async close() {
      await demo.end()
      await rm(folder, { recursive: true })
    },
  }
}

const remote = {
  id: 'fast',
  engine: 'openai',
  endpoints: [{ url: 'http://127.0.0.1:9/v1' }],
  upstream_model: 'm',
  context: 32_768,
  max_output_tokens: 4096,
  price: { input: '0.15', output: '0.60' },
}

const withModel = (configuration: string): string => stringify({ models: [remote], ...Object(parse(configuration)) })

const createFolder = () => mkdtemp(path.join(tmpdir(), 'tollgate-demo-'))
const dataIn = (folder: string) => path.join(folder, 'data')

async function run(folder: string, configuration: string, variables: Readonly<Record<string, string>> = {}) {
  const file = path.join(folder, 'tollgate.yaml')
  await writeFile(file, configuration)
  const port = await freePorts()
  const environment = {
    PORT: String(port),
    TOLLGATE_DATA: dataIn(folder),
    TOLLGATE_CONFIG: file,
    // Not the default beside a configured mail server or database.
    TOLLGATE_DEMO: '1',
    ...variables,
  }
  let running = await start(environment)
  return {
    base: `http://localhost:${port}`,
    async restart(changed: string) {
      await running.end()
      await writeFile(file, changed)
      running = await start(environment)
    },
    end: () => running.end(),
  }
}

interface Prepared {
  /** The address of the database. */
  readonly url: string
  readonly folder: string
}

/** Once in each run, starts the demo on an empty database, and keeps that database and the data folder. */
async function prepare(): Promise<Prepared> {
  const shared = await sharedFolder()
  const folder = path.join(shared, 'demo')
  const complete = path.join(folder, 'database')
  const lock = path.join(shared, 'demo-lock')
  await withFileLock(lock, () => build(folder, complete), { patience: 600_000 })
  return { url: await readFile(complete, 'utf8'), folder }
}

async function build(folder: string, complete: string): Promise<void> {
  if (existsSync(complete)) return
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder)
  const { url, superuserUrl } = await createTestDatabase()
  const demo = await run(folder, withModel('{}'), { DATABASE_URL: url })
  await demo.end()
  await forgetProvider(superuserUrl)
  await writeFile(complete, url)
}

/** The provider of each copy has another port, and so another issuer. */
async function forgetProvider(databaseUrl: string): Promise<void> {
  const client = new Client(databaseUrl)
  await client.connect()
  await client.query('delete from identity')
  await client.end()
}
