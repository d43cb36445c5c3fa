import { join } from 'node:path'
import { limitRows, memoryRows, peerRows, type Round } from './http-rows.ts'
import { startLoadGenerator, type LoadGenerator } from './load-process.ts'
import { measureLoad, type MeasuredLoad } from './measured-load.ts'
import { choosePorts, peerNames, startPeers, upstreamUrl, type Peer, type PeerName } from './peers.ts'
import type { Row } from './row.ts'
import type { ServerProcess } from './server-process.ts'
import { install, proveBooks } from './tollgate.ts'

const rounds = 5
/** V8 keeps compiling for about ten seconds; a service runs for weeks. */
const seconds = { warmUp: 4, round: 2 }
const connectionCounts = [8, 32, 128] as const
const accountCounts = [1, 10, 50] as const

/** Memory is read only after so many requests, so that a leak would show. */
const requestsBeforeMemory = 100_000

interface Setup {
  readonly generator: LoadGenerator
  readonly peers: Readonly<Record<PeerName, Peer>>
  /** The process id of Tollgate's PostgreSQL server. */
  readonly database: number
}

/**
 * Requests/s, latency and processor time of Tollgate with key, limits, credit and durable ledger, for one account and for many, against
 * the least that its promise costs: a bare Fastify and undici proxy that answers once a row of the reply is durable. Then against that
 * proxy without the row, and Portkey's gateway. All are in front of one upstream, in alternating rounds. Throws if a response is wrong,
 * if the ledger does not match the replies, or if `verify` finds a fault.
 */
export async function benchHttp(): Promise<Row[]> {
  const folder = join(import.meta.dirname, 'data/http')
  const ports = await choosePorts()
  const installation = await install(folder, { upstream: upstreamUrl(ports.vendor), accounts: 50 })
  const started: ServerProcess[] = []
  const generator = startLoadGenerator()
  try {
    const peers = await startPeers({ folder, started }, ports, installation)
    const setup = { generator, peers, database: await installation.databasePid() }
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
  const play = async (names: readonly PeerName[], load: PeerLoad): Promise<Round> => {
    const round = await playRound(setup, names, load)
    replies += round.tollgate.responses
    return round
  }
  for (const connections of connectionCounts) {
    for (const accounts of accountCounts) {
      // The others know no accounts.
      const isLast = accounts === accountCounts.at(-1)
      const names = isLast ? peerNames : (['limit', 'tollgate'] as const)
      await play(names, { connections, accounts, seconds: seconds.warmUp })
      const played: Round[] = []
      for (let round = 0; round < rounds; round++) {
        played.push(await play(names, { connections, accounts, seconds: seconds.round }))
      }
      rows.push(...limitRows(played, { connections, accounts }), ...(isLast ? peerRows(played, connections) : []))
    }
  }
  return { rows, replies }
}

interface PeerLoad {
  readonly connections: number
  /** How many keys take turns, each of an account of its own. */
  readonly accounts: number
  readonly seconds: number
}

/** Plays a load on some of the peers, among them the limit and Tollgate. */
async function playRound(
  { generator, peers, database }: Setup,
  names: readonly PeerName[],
  { accounts, ...load }: PeerLoad,
): Promise<Round> {
  const play = async (name: PeerName): Promise<MeasuredLoad> => {
    const { process, target } = peers[name]
    const peer = { process, target: { ...target, keys: target.keys.slice(0, accounts) } }
    const hasDatabase = name === 'limit' || name === 'tollgate'
    return measureLoad(generator, peer, {
      name: `${name}, ${accounts} accounts`,
      ...load,
      ...(hasDatabase && { database }),
    })
  }
  const others = (name: 'bare' | 'portkey') => (names.includes(name) ? play(name) : undefined)
  return {
    bare: await others('bare'),
    limit: await play('limit'),
    tollgate: await play('tollgate'),
    portkey: await others('portkey'),
  }
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
