import { join } from 'node:path'
import { measureKeys, type KeySubject, type PlayKeys } from './http-keys.ts'
import { memoryRows, roundRows, type Round } from './http-rows.ts'
import { startLoadGenerator, type LoadGenerator } from './load-process.ts'
import { measureLoad, type MeasuredLoad } from './measured-load.ts'
import { choosePorts, startPeers, upstreamUrl, type Peer, type PeerName } from './peers.ts'
import type { Row } from './row.ts'
import type { ServerProcess } from './server-process.ts'
import { install, proveBooks } from './tollgate.ts'

const rounds = 7
/** V8 keeps compiling for about ten seconds; a service runs for weeks. */
const seconds = { warmUp: 10, round: 2 }
/** Two kinds of keys differ by a few per cent, which only many rounds show. Each round begins with keys that were idle. */
const keyRounds = { rounds: 40, seconds: { warmUp: 5, round: 2 } }
const connectionCounts = [32, 128] as const

/** Memory is read only after so many requests, so that a leak would show. */
const requestsBeforeMemory = 100_000

interface Setup {
  readonly generator: LoadGenerator
  readonly peers: Readonly<Record<PeerName, Peer>>
  /** Keys with budgets and limits of their own. */
  readonly limitedKeys: readonly string[]
  /** The process id of Tollgate's PostgreSQL server. */
  readonly database: number
}

/**
 * Requests/s, latency and processor time of a bare Fastify and undici proxy, of Tollgate with key, limits, credit and
 * durable ledger, and of Portkey's gateway, in front of one upstream and in alternating rounds. Then those of Tollgate with
 * keys that have budgets and limits of their own. Throws if a response is wrong, if the ledger does not match the replies, or
 * if `verify` finds a fault.
 */
export async function benchHttp(): Promise<Row[]> {
  const folder = join(import.meta.dirname, 'data/http')
  const ports = await choosePorts()
  const installation = await install(folder, {
    upstream: upstreamUrl(ports.vendor),
    accounts: 100,
    limitedAccounts: 100,
  })
  const started: ServerProcess[] = []
  const generator = startLoadGenerator()
  try {
    const peers = await startPeers({ folder, started }, ports, installation)
    const { limitedKeys } = installation
    const setup = { generator, peers, limitedKeys, database: await installation.databasePid() }
    const { rows, replies: measured } = await measure(setup)
    const replies = measured + (await sendAtLeast(setup, requestsBeforeMemory - measured))
    const memory = memoryRows(peers.tollgate.process.pid, replies)
    await peers.tollgate.process.stop()
    await proveBooks(installation, replies)
    return [...rows, ...memory]
  } finally {
    generator.close()
    await Promise.all(started.map((process) => process.stop()))
  }
}

async function measure(setup: Setup): Promise<{ rows: Row[]; replies: number }> {
  const rows: Row[] = []
  // One request recorded the expected response.
  let replies = 1
  const play = async (load: { connections: number; seconds: number }): Promise<Round> => {
    const round = await playRound(setup, load)
    replies += round.tollgate.responses
    return round
  }
  for (const connections of connectionCounts) {
    await play({ connections, seconds: seconds.warmUp })
    const played: Round[] = []
    for (let round = 0; round < rounds; round++) played.push(await play({ connections, seconds: seconds.round }))
    rows.push(...roundRows(played, connections))
  }
  console.log('  keys with and without budgets …')
  const playKeys: PlayKeys = async (subject, load) => {
    const played = await playTollgate(setup, { ...load, subject })
    replies += played.responses
    return played
  }
  rows.push(...(await measureKeys(playKeys, keyRounds)))
  return { rows, replies }
}

async function playRound(
  { generator, peers, database }: Setup,
  load: { connections: number; seconds: number },
): Promise<Round> {
  const play = (name: PeerName): Promise<MeasuredLoad> =>
    measureLoad(generator, peers[name], { name, ...load, ...(name === 'tollgate' && { database }) })
  return { bare: await play('bare'), tollgate: await play('tollgate'), portkey: await play('portkey') }
}

/** A load on Tollgate alone, with its keys of one kind. */
function playTollgate(
  { generator, peers: { tollgate }, limitedKeys, database }: Setup,
  { subject, ...load }: { subject: KeySubject; connections: number; seconds: number },
): Promise<MeasuredLoad> {
  const keys = subject === 'limited' ? limitedKeys : tollgate.target.keys
  const peer = { ...tollgate, target: { ...tollgate.target, keys } }
  return measureLoad(generator, peer, { name: `tollgate, ${subject} keys`, ...load, database, silent: true })
}

/** Sends Tollgate at least `count` more requests. Returns the number of replies. */
async function sendAtLeast({ generator, peers }: Setup, count: number): Promise<number> {
  let replies = 0
  while (replies < count) {
    const load = { name: 'tollgate', connections: 128, seconds: seconds.round }
    replies += (await measureLoad(generator, peers.tollgate, load)).responses
  }
  return replies
}
