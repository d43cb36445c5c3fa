import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { costRows } from './http-rows.ts'
import { startLoadGenerator, type LoadGenerator } from './load-process.ts'
import { measureLoad, type MeasuredLoad } from './measured-load.ts'
import type * as peers from './peers.ts'
import { startVendor, upstreamUrl, type Peer, type Target } from './peers.ts'
import type { Row } from './row.ts'
import { freePort, type ServerProcess } from './server-process.ts'
import type * as tollgate from './tollgate.ts'
import { root, type Installation } from './tollgate.ts'

const folder = join(import.meta.dirname, 'data/paired')
const rounds = 15
// Short rounds, because the speed of a shared machine varies.
const seconds = { warmUp: 5, round: 1 }
const connectionCounts = [32, 128] as const
const sides = ['this', 'other'] as const
type Side = (typeof sides)[number]

const messages = [
  { role: 'user', content: 'Rewrite this for a client: the meeting on Tuesday is moved to Thursday at ten.' },
]
const chat = JSON.stringify({ model: 'fast', messages, max_tokens: 64 })
const greeting = { body: chat, expected: '"Hello there."', differs: true }

/** What is sent besides the request that a start records: `POST /v1/generate`. Replies have ids of their own. */
const requests: Readonly<Record<string, Partial<Target>>> = {
  generate: {},
  'chat completions': { path: '/v1/chat/completions', ...greeting },
  messages: { path: '/v1/messages', ...greeting },
}

type TollgateModule = Pick<typeof tollgate, 'install' | 'proveBooks'>
type PeersModule = Pick<typeof peers, 'startTollgate'>

/** A version of Tollgate with a database of its own, and the replies that it sent. */
interface Subject {
  readonly installation: Installation
  readonly peer: Peer
  readonly database: number
  readonly prove: (installation: Installation, replies: number) => Promise<void>
  replies: number
}

/**
 * Processor time per request without tools, of this version against that of another checkout, whose folder is in AGAINST, in
 * front of one upstream and in alternating rounds. Without AGAINST it measures nothing. Throws if a response is wrong, if a
 * ledger does not match the replies, or if `verify` finds a fault.
 */
export async function benchPaired(): Promise<Row[]> {
  const { AGAINST: against } = process.env
  if (!against) {
    console.log('  skipped: set AGAINST to the folder of another checkout')
    return []
  }
  const started: ServerProcess[] = []
  const generator = startLoadGenerator()
  try {
    const vendor = await freePort()
    await mkdir(folder, { recursive: true })
    await startVendor({ folder, started }, vendor)
    const subjects = {
      this: await startSubject('this', root, vendor, started),
      other: await startSubject('other', resolve(against), vendor, started),
    }
    const rows = await measure(generator, subjects)
    for (const { installation, peer, prove, replies } of Object.values(subjects)) {
      await peer.process.stop()
      await prove(installation, replies)
    }
    return rows
  } finally {
    generator.close()
    await Promise.all(started.map((process) => process.stop()))
  }
}

/** Each version is installed and proven by its own code, because their schemas differ. */
async function startSubject(side: Side, checkout: string, vendor: number, started: ServerProcess[]): Promise<Subject> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(checkout, 'bench', file)).href)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- another version of the same module
  const { install, proveBooks } = (await load('tollgate.ts')) as TollgateModule
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { startTollgate } = (await load('peers.ts')) as PeersModule
  const place = join(folder, side)
  const installation = await install(place, { upstream: upstreamUrl(vendor), accounts: 100 })
  const peer = await startTollgate({ folder: place, started }, await freePort(), installation)
  // One request recorded the expected response.
  return { installation, peer, database: await installation.databasePid(), prove: proveBooks, replies: 1 }
}

async function measure(generator: LoadGenerator, subjects: Readonly<Record<Side, Subject>>): Promise<Row[]> {
  async function play(side: Side, what: string, load: { connections: number; seconds: number }): Promise<MeasuredLoad> {
    const { peer, database } = subjects[side]
    const asked = { ...peer, target: { ...peer.target, ...requests[what] } }
    const played = await measureLoad(generator, asked, { name: `${side}, ${what}`, database, ...load })
    subjects[side].replies += played.responses
    return played
  }
  const rows: Row[] = []
  for (const what of Object.keys(requests)) {
    for (const side of sides) await play(side, what, { connections: 128, seconds: seconds.warmUp })
    for (const connections of connectionCounts) {
      const loads: Record<Side, MeasuredLoad[]> = { this: [], other: [] }
      for (let round = 0; round < rounds; round++) {
        const order = round % 2 === 0 ? sides : sides.toReversed()
        for (const side of order) loads[side].push(await play(side, what, { connections, seconds: seconds.round }))
      }
      rows.push(...rowsOf(`${what} at ${connections} connections`, loads))
    }
  }
  return rows
}

function rowsOf(subject: string, loads: Readonly<Record<Side, readonly MeasuredLoad[]>>): Row[] {
  const ratio = (part: 'server' | 'database'): number[] =>
    loads.this.map(({ cost }, round) => (cost[part] ?? Number.NaN) / (loads.other[round]?.cost[part] ?? Number.NaN))
  return [
    ...sides.flatMap((side) => costRows(`${side}, ${subject}`, loads[side])),
    { name: `this / other, ${subject}: server`, unit: '×', samples: ratio('server'), goal: { atMost: 1.02 } },
    { name: `this / other, ${subject}: PostgreSQL`, unit: '×', samples: ratio('database'), goal: { atMost: 1.02 } },
  ]
}
