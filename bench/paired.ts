import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startLoadGenerator, type LoadGenerator } from './load-process.ts'
import { measureLoad, type MeasuredLoad } from './measured-load.ts'
import type * as peers from './peers.ts'
import { startVendor, upstreamUrl, type Peer, type Target } from './peers.ts'
import type { Row } from './row.ts'
import { freePort, type ServerProcess } from './server-process.ts'
import type * as tollgate from './tollgate.ts'
import { root, type Installation } from './tollgate.ts'

const folder = join(import.meta.dirname, 'data/paired')
// Many short rounds, because the speed of a shared machine varies from one second to the next.
const rounds = 120
const seconds = { warmUp: 5, round: 0.2 }
const connectionCounts = [32, 128] as const
const sides = ['this', 'other'] as const
type Side = (typeof sides)[number]

/** Each version is started twice, because one start can be a few per cent faster than another. The order favours neither. */
const starts = ['this', 'other', 'other', 'this'] as const

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

/** A start of a version of Tollgate, with a database of its own, and the replies that it sent. */
interface Subject {
  readonly side: Side
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
    const checkouts = { this: root, other: resolve(against) }
    const subjects: Subject[] = []
    for (const [index, side] of starts.entries()) {
      const place = join(folder, `${index}-${side}`)
      subjects.push(await startSubject(side, { checkout: checkouts[side], place, vendor, started }))
    }
    const rows = await measure(generator, subjects)
    for (const { installation, peer, prove, replies } of subjects) {
      await peer.process.stop()
      await prove(installation, replies)
    }
    return rows
  } finally {
    generator.close()
    await Promise.all(started.map((process) => process.stop()))
  }
}

interface SubjectOptions {
  readonly checkout: string
  /** The folder of its data. */
  readonly place: string
  /** The upstream's port. */
  readonly vendor: number
  readonly started: ServerProcess[]
}

/** Each version is installed and proven by its own code, because their schemas differ. */
async function startSubject(side: Side, { checkout, place, vendor, started }: SubjectOptions): Promise<Subject> {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(checkout, 'bench', file)).href)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- another version of the same module
  const { install, proveBooks } = (await load('tollgate.ts')) as TollgateModule
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { startTollgate } = (await load('peers.ts')) as PeersModule
  const installation = await install(place, { upstream: upstreamUrl(vendor), accounts: 100 })
  const peer = await startTollgate({ folder: place, started }, await freePort(), installation)
  // One request recorded the expected response.
  return { side, installation, peer, database: await installation.databasePid(), prove: proveBooks, replies: 1 }
}

async function measure(generator: LoadGenerator, subjects: readonly Subject[]): Promise<Row[]> {
  async function play(subject: Subject, what: string, load: { connections: number; seconds: number }): Promise<Cost> {
    const { side, peer, database } = subject
    const asked = { ...peer, target: { ...peer.target, ...requests[what] } }
    const played = await measureLoad(generator, asked, { name: `${side}, ${what}`, database, silent: true, ...load })
    subject.replies += played.responses
    return played.cost
  }
  /** The costs of each side, start by start. Every other round has the reverse order. */
  async function playRounds(what: string, connections: number): Promise<Record<Side, Cost[]>> {
    const costs = new Map(subjects.map((subject): [Subject, Cost[]] => [subject, []]))
    for (let round = 0; round < rounds; round++) {
      for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
        costs.get(subject)?.push(await play(subject, what, { connections, seconds: seconds.round }))
      }
    }
    const costsOf = (side: Side): Cost[] =>
      [...costs].flatMap(([subject, ofSubject]) => (subject.side === side ? ofSubject : []))
    return { this: costsOf('this'), other: costsOf('other') }
  }
  const compared: Comparison[] = []
  for (const what of Object.keys(requests)) {
    for (const subject of subjects) await play(subject, what, { connections: 128, seconds: seconds.warmUp })
    for (const connections of connectionCounts) {
      const name = `${what} at ${connections} connections`
      console.log(`  ${name} …`)
      compared.push({ name, ...(await playRounds(what, connections)) })
    }
  }
  return rowsOf(compared)
}

type Cost = MeasuredLoad['cost']

/** The processor time of both versions with one kind of request: that of the nth load of one belongs to that of the other's. */
type Comparison = { readonly name: string } & Readonly<Record<Side, readonly Cost[]>>

/** The goal applies to all requests together: the median of one kind varies by more than 2 % from run to run. */
function rowsOf(compared: readonly Comparison[]): Row[] {
  const parts = { server: 'server', database: 'PostgreSQL' } as const
  return (['server', 'database'] as const).flatMap((part) => {
    const rows = compared.flatMap((comparison) => {
      const samplesOf = (side: Side): number[] => comparison[side].map((cost) => cost[part] ?? Number.NaN)
      const samples = { this: samplesOf('this'), other: samplesOf('other') }
      const at = `${comparison.name}: ${parts[part]}`
      return [
        ...sides.map((side) => ({ name: `${side}, ${at}`, unit: 'µs/request', samples: samples[side] })),
        { name: `this / other, ${at}`, unit: '×', samples: ratios(samples) },
      ]
    })
    const all = rows.flatMap(({ unit, samples }) => (unit === '×' ? samples : []))
    return [...rows, { name: `this / other: ${parts[part]}`, unit: '×', samples: all, goal: { atMost: 1.02 } }]
  })
}

const ratios = (samples: Readonly<Record<Side, readonly number[]>>): number[] =>
  samples.this.map((cost, index) => cost / (samples.other[index] ?? Number.NaN))
