import { join } from 'node:path'
import { pino } from 'pino'
import { createAudit } from '../src/access/audit/audit.ts'
import { createContext, type Context } from '../src/commands/context.ts'
import { openDatabase, type Database } from '../src/platform/database/database.ts'
import { createSessions } from '../src/signin/session/sessions.ts'
import { freePort, startProcess, type ServerProcess } from './server-process.ts'
import { install, root, superuserUrl, type Installation, type InstallOptions } from './tollgate.ts'

/** Tollgate with the data of a benchmark, and a partner who is signed in. */
export interface PortalStage {
  readonly url: string
  /** The Cookie header of the partner. */
  readonly cookie: string
  readonly installation: Installation
  /** As a superuser, without a limit of time. */
  readonly database: Database
  readonly context: Context
  /** Gets a page's data as the partner. Throws if it answers another status than 200. */
  get(this: void, path: string): Promise<void>
  close(): Promise<void>
}

interface PortalStageOptions extends Omit<InstallOptions, 'upstream'> {
  /** The address of the model `fast`. Default: none that answers. */
  readonly upstream?: string
  /** Creates the data, as a superuser. */
  readonly seed: (database: Database) => Promise<void>
}

export const partner = '01990000-0003-7000-8000-000000000001'

export async function openPortalStage(
  folder: string,
  { seed, upstream = 'http://127.0.0.1:9/v1', ...options }: PortalStageOptions,
): Promise<PortalStage> {
  const installation = await install(folder, { upstream, ...options })
  const { environment } = installation
  const { stdout, stderr } = process
  const context = createContext({ environment: { ...process.env, ...environment }, root, stdout, stderr })
  let server: ServerProcess | undefined
  let database: Database | undefined
  const close = async () => {
    await server?.stop()
    await database?.close()
    await context.close()
  }
  try {
    await context.database()
    const url = await superuserUrl(environment)
    database = openDatabase(url, { log: await context.log(), connections: 2, statementTimeout: 0 })
    await database.rows(
      `insert into person (id, name, role, created_at) values ('${partner}', 'Partner', 'partner', now())`,
    )
    await seed(database)
    const cookie = await signIn(database, partner)
    const port = await freePort()
    server = startProcess({
      command: join(root, 'tollgate'),
      args: ['start'],
      environment: { ...environment, PORT: `${port}` },
      output: join(folder, 'tollgate.log'),
    })
    const base = `http://127.0.0.1:${port}`
    await server.ready(`${base}/readyz`, 60_000)
    return {
      url: base,
      cookie,
      installation,
      database,
      context,
      async get(path: string) {
        const response = await fetch(`${base}${path}`, { headers: { cookie, accept: 'application/json' } })
        const body = await response.text()
        if (response.status !== 200) throw new Error(`${path} answers ${response.status}: ${body}`)
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Starts a session of a person. Returns the Cookie header. */
export async function signIn(database: Database, personId: string): Promise<string> {
  const audit = createAudit({ database })
  const lifetimes = { idle: 3_600_000, absolute: 12 * 3_600_000 }
  const sessions = createSessions({ database, audit, log: pino({ level: 'silent' }), lifetimes })
  const { value } = await sessions.start({ personId, method: 'bench', factors: ['provider'] })
  await sessions.close()
  await audit.close()
  return `session=${value}`
}
