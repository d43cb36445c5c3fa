import { join } from 'node:path'
import { startGenerator, type Generator } from './load-process.ts'
import type { Outcome } from './load.ts'
import { choosePorts, peerNames, startPeers, upstreamOf, type Peer, type PeerName } from './peers.ts'
import { memoryOf, type Process } from './processes.ts'
import type { Row } from './row.ts'
import { install, verify, type Installation } from './tollgate.ts'

const rounds = 7
/** V8 goes on compiling for some ten seconds; a service runs for weeks. */
const seconds = { warmUp: 10, round: 2 }

/** A server that grows shows it after so many requests. */
const fewestForMemory = 100_000

/** Of the requests/s of the bare proxy, and of Portkey's gateway, by connections. */
const goals = [
  { connections: 32, bare: 0.35, portkey: 3 },
  { connections: 128, bare: 0.5, portkey: 3 },
]

type Peers = Readonly<Record<PeerName, Peer>>
type Round = Readonly<Record<PeerName, Outcome>>

/**
 * Requests/s of a bare Fastify and undici proxy, of Tollgate with key, limits, credit and durable ledger, and of
 * Portkey's gateway, before one upstream and in alternating rounds. Throws when an answer is not the right one, when the
 * ledger is not what was answered, or when the books do not prove.
 */
export async function benchHttp(): Promise<Row[]> {
  const folder = join(import.meta.dirname, 'data/http')
  const ports = await choosePorts()
  const installation = await install(folder, { upstream: upstreamOf(ports), accounts: 100 })
  const started: Process[] = []
  const generator = startGenerator()
  try {
    const peers = await startPeers(folder, ports, installation, started)
    const { rows, answers: measured } = await measure(generator, peers)
    const answers = measured + (await goOn(generator, peers, fewestForMemory - measured))
    const memory = memoryRows(peers.tollgate.process.pid, answers)
    await peers.tollgate.process.stop()
    await proveBooks(installation, answers)
    return [...rows, ...memory]
  } finally {
    generator.close()
    await Promise.all(started.map((process) => process.stop()))
  }
}

async function measure(generator: Generator, peers: Peers): Promise<{ rows: Row[]; answers: number }> {
  const rows: Row[] = []
  // The one that showed what Tollgate answers.
  let answers = 1
  for (const goal of goals) {
    const { connections } = goal
    await playRound(generator, peers, { connections, seconds: seconds.warmUp }).then(count)
    const played: Round[] = []
    for (let round = 0; round < rounds; round++) {
      played.push(await playRound(generator, peers, { connections, seconds: seconds.round }).then(count))
    }
    rows.push(...rowsOf(played, goal))
  }
  return { rows, answers }

  function count(round: Round): Round {
    answers += round.tollgate.answers
    return round
  }
}

async function playRound(
  generator: Generator,
  peers: Peers,
  load: { connections: number; seconds: number },
): Promise<Round> {
  const play = async (name: PeerName): Promise<Outcome> => {
    const outcome = await generator.run({ ...peers[name].target, ...load })
    assertRight(name, outcome)
    console.log(`  ${load.connections} connections, ${name}: ${Math.round(outcome.perSecond)} requests/s`)
    return outcome
  }
  return { bare: await play('bare'), tollgate: await play('tollgate'), portkey: await play('portkey') }
}

/** More requests to Tollgate, until at least so many are answered. Returns how many there were. */
async function goOn(generator: Generator, { tollgate }: Peers, atLeast: number): Promise<number> {
  let answers = 0
  while (answers < atLeast) {
    const outcome = await generator.run({ ...tollgate.target, connections: 128, seconds: seconds.round })
    assertRight('tollgate', outcome)
    answers += outcome.answers
  }
  return answers
}

function assertRight(name: PeerName, { wrong, firstWrong, cut }: Outcome): void {
  if (wrong + cut > 0) throw new Error(`${name}: ${wrong} wrong answers (${firstWrong}), ${cut} cut off`)
}

function rowsOf(played: readonly Round[], goal: (typeof goals)[number]): Row[] {
  const at = `at ${goal.connections} connections`
  const rate = (peer: PeerName) => ({
    name: `${peer}: ${at}`,
    unit: 'requests/s',
    samples: played.map((round) => round[peer].perSecond),
  })
  const ratio = (peer: 'bare' | 'portkey') => ({
    name: `tollgate / ${peer}: ${at}`,
    unit: '×',
    samples: played.map((round) => round.tollgate.perSecond / round[peer].perSecond),
    goal: { atLeast: goal[peer] },
  })
  const latency = (quantile: 'p50' | 'p99') => ({
    name: `tollgate: ${quantile} ${at}`,
    unit: 'ms',
    samples: played.map((round) => round.tollgate.latency[quantile]),
  })
  return [...peerNames.map(rate), ratio('bare'), ratio('portkey'), latency('p50'), latency('p99')]
}

/** Of the server's process alone: the database is not in it. No rows where the system does not say. */
function memoryRows(pid: number, answers: number): Row[] {
  const memory = memoryOf(pid)
  if (!memory) return []
  const after = `tollgate: memory after ${answers.toLocaleString('en-US')} requests`
  return [
    { name: after, unit: 'MB', samples: [memory.now], goal: { atMost: 200 } },
    { name: 'tollgate: memory, the most it ever had', unit: 'MB', samples: [memory.most] },
  ]
}

async function proveBooks(installation: Installation, answers: number): Promise<void> {
  await verify(installation)
  const { ledgerRows, holds, durable } = await installation.books()
  if (ledgerRows !== answers) throw new Error(`${answers} answers, but ${ledgerRows} rows in the ledger`)
  if (holds !== 0) throw new Error(`${holds} holds are left`)
  if (!durable) throw new Error('The database does not wait for the disk: the figures are worth nothing.')
}
