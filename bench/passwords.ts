import { join } from 'node:path'
import { pino } from 'pino'
import { byService } from '../src/access/actor.ts'
import { createAudit } from '../src/access/audit/audit.ts'
import { createContext } from '../src/commands/context.ts'
import { createPeople } from '../src/people/people.ts'
import type { Database } from '../src/platform/database/database.ts'
import { createSessions } from '../src/signin/session/sessions.ts'
import type { GetRequest } from './get-load.ts'
import { startGuesser, type Guess } from './guesses.ts'
import { startPacedReader } from './paced-reads.ts'
import type { Row } from './row.ts'
import { freePort, startProcess } from './server-process.ts'
import { install, root } from './tollgate.ts'

const rounds = 7
const guesses = 200
const reads = { perSecond: 50, seconds: 4 }
const clients = 20

/**
 * The p95 of `GET /clients/<id>` at 50 requests/s while 200 wrong passwords, sent at the same time, are being checked,
 * compared with the same service without them. Half of the passwords are for people who have one. Throws if a record is
 * wrong, or if a password is answered with anything but 400 or 503.
 */
export async function benchPasswords(): Promise<Row[]> {
  const folder = join(import.meta.dirname, 'data/passwords')
  const port = await freePort()
  const installation = await install(folder, { upstream: 'http://127.0.0.1:9/v1', accounts: 0, settings })
  const environment = { ...installation.environment, PORT: `${port}` }
  const { stdout, stderr } = process
  const context = createContext({ environment: { ...process.env, ...environment }, root, stdout, stderr })
  const server = startProcess({
    command: join(root, 'tollgate'),
    args: ['start'],
    environment,
    output: `${folder}.log`,
  })
  const [reader, guesser] = [startPacedReader(), startGuesser()]
  try {
    await server.ready(`http://127.0.0.1:${port}/readyz`, 60_000)
    const database = await context.database()
    const requests = await createRecords(port, await signIn(database))
    const play = async () => {
      const result = await reader.run({ port, requests, ...reads })
      if (result.wrong > 0) throw new Error(`${result.wrong} of ${result.responses} records were wrong`)
      return result.p95
    }
    await play()
    const played: { idle: number; busy: number; seconds: number }[] = []
    for (let round = 0; round < rounds; round++) {
      const idle = await play()
      const emails = await createEmails(database, round)
      const wrong = await Promise.all(emails.map((email, n) => begin(port, email, `10.${round}.${n}.1`)))
      const [{ statuses, seconds }, busy] = await Promise.all([guesser.run({ guesses: wrong }), play()])
      console.log(`  p95 ${idle.toFixed(2)} ms idle, ${busy.toFixed(2)} ms with passwords: ${JSON.stringify(statuses)}`)
      const others = Object.keys(statuses).filter((status) => status !== '400' && status !== '503')
      if (others.length > 0) throw new Error(`passwords were answered with ${others.join(', ')}`)
      played.push({ idle, busy, seconds })
    }
    return rowsOf(played)
  } finally {
    reader.close()
    guesser.close()
    await server.stop()
    await context.close()
  }
}

/** A guess in a sign-in that has begun, as if sent through a proxy. */
async function begin(port: number, email: string, sender: string): Promise<Guess> {
  const base = `http://127.0.0.1:${port}/auth`
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-forwarded-for': sender }
  const response = await fetch(`${base}/start/password`, { method: 'POST', headers, body: '{}' })
  const begun: unknown = await response.json()
  if (typeof begun !== 'object' || begun === null || !('attempt' in begun)) throw new Error('no sign-in has begun')
  const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  const body = JSON.stringify({ attempt: begun.attempt, input: { email, password: 'a wrong password' } })
  return { url: `${base}/complete`, headers: { ...headers, cookie }, body }
}

const settings = `sign_in: { password: true, starts_per_minute: 100000 }
mail: { url: "smtp://127.0.0.1:9", from: tollgate@firm.example }
`

function rowsOf(played: readonly { idle: number; busy: number; seconds: number }[]): Row[] {
  const of = `record, ${reads.perSecond}/s`
  return [
    { name: `${of}: p95, idle`, unit: 'ms', samples: played.map(({ idle }) => idle) },
    { name: `${of}: p95, ${guesses} wrong passwords`, unit: 'ms', samples: played.map(({ busy }) => busy) },
    {
      name: `${of}: p95, ${guesses} wrong passwords / idle`,
      unit: '×',
      samples: played.map(({ idle, busy }) => busy / idle),
      goal: { atMost: 2 },
    },
    { name: `${guesses} wrong passwords`, unit: 's', samples: played.map(({ seconds }) => seconds) },
  ]
}

/** A consultant's Cookie header. */
async function signIn(database: Database): Promise<string> {
  const audit = createAudit({ database })
  const log = pino({ level: 'silent' })
  const sessions = createSessions({ database, audit, log, lifetimes: { idle: 3_600_000, absolute: 43_200_000 } })
  const person = { name: 'Reader', email: 'reader@firm.example', role: 'consultant' } as const
  const { id } = await createPeople({ database, audit }).create(person, byService)
  const { value } = await sessions.start({ personId: id, method: 'bench', factors: ['provider'] })
  await sessions.close()
  return `session=${value}`
}

async function createRecords(port: number, cookie: string): Promise<GetRequest[]> {
  const base = `http://127.0.0.1:${port}/clients`
  const headers = { cookie, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const requests: GetRequest[] = []
  for (let n = 0; n < clients; n++) {
    const body = JSON.stringify({ name: `Client ${n}`, reference: `C-${n}` })
    const created: unknown = await fetch(base, { method: 'POST', headers, body }).then((response) => response.json())
    if (typeof created !== 'object' || created === null || !('id' in created)) throw new Error('no client was created')
    const path = `/clients/${String(created.id)}`
    const expected = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { cookie } })
    requests.push({ path, cookie, expected: await expected.text() })
  }
  return requests
}

/** Addresses, every second of which belongs to a person with a password. */
async function createEmails(database: Database, round: number): Promise<string[]> {
  const emails = Array.from({ length: guesses }, (_, n) => `person${round}-${n}@firm.example`)
  const people = createPeople({ database, audit: createAudit({ database }) })
  for (const [n, email] of emails.entries()) {
    if (n % 2 === 0) await people.create({ name: email, email, role: 'consultant' }, byService)
  }
  // A hash of no password, as costly to verify as any.
  await database.rows(
    `insert into password (person_id, hash, changed_at)
     select id, '$argon2id$v=19$m=19456,t=2,p=1$' || repeat('A', 22) || '$' || repeat('A', 43), now() from person
     where email_key like $1`,
    [`person${round}-%`],
  )
  return emails
}
