import { join } from 'node:path'
import { pino } from 'pino'
import { createAudit } from '../src/access/audit/audit.ts'
import { createContext } from '../src/commands/context.ts'
import { createSessions } from '../src/signin/session/sessions.ts'
import { readRecord } from '../src/clients/record/store.ts'
import { openDatabase, type Database } from '../src/platform/database/database.ts'
import type { GetRequest } from './get-load.ts'
import { clientCount, seeds } from './records-seed.ts'
import { freePort, startProcess, type ServerProcess } from './server-process.ts'
import { install, root, superuserUrl, type Installation } from './tollgate.ts'

export const recordPeers = ['bare', 'tollgate', 'better-auth'] as const
export type RecordPeer = (typeof recordPeers)[number]

/** A database with 200 000 clients, and the servers in front of it. */
export interface RecordsStage {
  readonly installation: Installation
  /** The requests to each server, with the expected responses. */
  readonly reads: Readonly<Record<RecordPeer, Reads>>
  /** Searches in Tollgate as a consultant with 400 clients types. */
  readonly typing: Reads
  /** Counts the rows of the audit log about allowed reads and searches. */
  auditedReads(this: void): Promise<number>
  stopServers(this: void): Promise<void>
  close(): Promise<void>
}

export interface Reads {
  readonly port: number
  readonly requests: readonly GetRequest[]
}

/** How many consultants read records, and how many clients each of them reads. */
const readers = { people: 50, clients: 20 }

/** Tollgate's query of a record, without the restriction to a consultant (`$1`), so that all servers answer the same. */
const select = readRecord({ of: 'all' }, '').text.replaceAll('$1::uuid is null', 'true').replaceAll('$2', '$1')

export async function openRecordsStage(folder: string): Promise<RecordsStage> {
  const started: ServerProcess[] = []
  const installation = await install(folder, { upstream: 'http://127.0.0.1:9/v1', accounts: 0 })
  const { environment } = installation
  const { stdout, stderr } = process
  const context = createContext({ environment: { ...process.env, ...environment }, root, stdout, stderr })
  const opened: Database[] = []
  const stopServers = async () => {
    await Promise.all(started.splice(0).map((each) => each.stop()))
  }
  const close = async () => {
    await stopServers()
    for (const database of opened) await database.close()
    await context.close()
  }
  try {
    await context.database()
    // Row-level security also applies to the owner of the tables. The superuser bypasses it.
    const url = await superuserUrl(environment)
    const database = openDatabase(url, { log: await context.log(), connections: 2, statementTimeout: 0 })
    opened.push(database)
    console.log(`  creating ${clientCount} clients …`)
    const people = await seed(database)
    const ports = { bare: await freePort(), 'better-auth': await freePort(), tollgate: await freePort() }
    const start = async (name: RecordPeer, command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) => {
      const server = startProcess({ command, args, environment: more, output: join(folder, `${name}.log`) })
      started.push(server)
      await server.ready(`http://127.0.0.1:${ports[name]}${name === 'tollgate' ? '/readyz' : '/'}`, 60_000)
    }
    const peer = (name: 'bare' | 'better-auth', file: string) =>
      start(name, process.execPath, [join(import.meta.dirname, 'peers', file), `${ports[name]}`, url, select], {
        NODE_ENV: 'production',
      })
    await start('tollgate', join(root, 'tollgate'), ['start'], { ...environment, PORT: `${ports.tollgate}` })
    await peer('bare', 'bare-records.ts')
    await peer('better-auth', 'better-auth.mjs')

    const cookies = await cookiesOf(ports['better-auth'])
    const paths = people.flatMap(({ clients, cookie }) => clients.map((id) => ({ path: `/clients/${id}`, cookie })))
    const searches = searchesOf(people[0]?.cookie ?? '')
    return {
      installation,
      reads: {
        bare: await recordResponses(ports.bare, paths),
        tollgate: await recordResponses(ports.tollgate, paths),
        'better-auth': await recordResponses(
          ports['better-auth'],
          paths.map(({ path }, n) => ({ path, cookie: cookies[n % cookies.length] ?? '' })),
        ),
      },
      typing: await recordResponses(ports.tollgate, searches),
      auditedReads: () => countReads(database),
      stopServers,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Sends each request once. Every later response must equal the first one byte for byte. */
async function recordResponses(port: number, targets: readonly { path: string; cookie: string }[]): Promise<Reads> {
  const requests: GetRequest[] = []
  for (const { path, cookie } of targets) {
    const headers = { cookie, accept: 'application/json' }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    const expected = await response.text()
    if (response.status !== 200 || !/"(?:id|clients)":/.test(expected)) {
      throw new Error(`${path} at ${port} answers ${response.status}: ${expected}`)
    }
    requests.push({ path, cookie, expected })
  }
  return { port, requests }
}

async function cookiesOf(port: number): Promise<string[]> {
  const cookies: unknown = await fetch(`http://127.0.0.1:${port}/cookies`).then((response) => response.json())
  return Array.isArray(cookies) ? cookies.map(String) : []
}

/** Searches for names as they are typed, one more letter each time. */
function searchesOf(cookie: string): { path: string; cookie: string }[] {
  return ['lindqvist', 'berg anna', 'c-0001', 'holm gmbh'].flatMap((text) =>
    Array.from(text, (_, n) => ({ path: `/clients?q=${encodeURIComponent(text.slice(0, n + 1))}`, cookie })),
  )
}

interface Reader {
  readonly cookie: string
  readonly clients: readonly string[]
}

async function seed(database: Database): Promise<Reader[]> {
  for (const statement of seeds) await database.rows(statement)
  const rows = await database.rows<{ consultant_id: string; clients: string[] }>(
    `select consultant_id, (array_agg(id order by id))[1:${readers.clients}]::text[] as clients from client
     group by 1 order by 1 limit ${readers.people}`,
  )
  const log = pino({ level: 'silent' })
  const audit = createAudit({ database })
  const lifetimes = { idle: 3_600_000, absolute: 12 * 3_600_000 }
  const sessions = createSessions({ database, audit, log, lifetimes })
  const people: Reader[] = []
  for (const { consultant_id: personId, clients } of rows) {
    const { value } = await sessions.start({ personId, method: 'bench', factors: ['provider'] })
    people.push({ clients, cookie: `session=${value}` })
  }
  await sessions.close()
  await audit.close()
  return people
}

async function countReads(database: Database): Promise<number> {
  const [row] = await database.rows<{ reads: bigint; durable: boolean }>(
    `select (select count(*) from audit where action in ('client_read', 'clients_listed') and outcome = 'allowed') as reads,
      current_setting('fsync') = 'on' and current_setting('synchronous_commit') = 'on' as durable`,
  )
  if (!row?.durable) throw new Error('The database does not wait for the disk, so the figures are worthless.')
  return Number(row.reads)
}
