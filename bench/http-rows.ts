import type { MeasuredLoad } from './measured-load.ts'
import { peerNames, type PeerName } from './peers.ts'
import { memoryOf } from './proc.ts'
import type { Row } from './row.ts'

/** One load of each peer. */
export type Round = Readonly<Record<PeerName, MeasuredLoad>>

/** Multiples of a peer's requests/s: those that Tollgate must reach, and the year's. */
const goals = {
  32: { bare: { now: 0.35, next: 0.45 }, portkey: { now: 3, next: 5.5 } },
  128: { bare: { now: 0.5, next: 0.65 }, portkey: { now: 3, next: 5.5 } },
}

/** The rows of the rounds with one number of connections. */
export function roundRows(rounds: readonly Round[], connections: keyof typeof goals): Row[] {
  const at = `at ${connections} connections`
  const latencies = peerNames.flatMap((peer) => [
    row(`${peer}: p50 ${at}`, 'ms', (round) => round[peer].latency.p50),
    row(`${peer}: p99 ${at}`, 'ms', (round) => round[peer].latency.p99),
  ])
  const p99 = row(`tollgate / bare: p99 ${at}`, '×', ({ tollgate, bare }) => tollgate.latency.p99 / bare.latency.p99)
  return [
    ...peerNames.map((peer) => row(`${peer}: ${at}`, 'requests/s', (round) => round[peer].perSecond)),
    ratio('bare'),
    ratio('portkey'),
    ...latencies,
    { ...p99, nextGoal: { atMost: 2 } },
    ...costRows(
      `tollgate ${at}`,
      rounds.map(({ tollgate }) => tollgate),
    ),
    ...costRows(
      `bare ${at}`,
      rounds.map(({ bare }) => bare),
    ),
  ]

  function row(name: string, unit: string, sample: (round: Round) => number): Row {
    return { name, unit, samples: rounds.map(sample) }
  }

  function ratio(peer: 'bare' | 'portkey'): Row {
    const { now, next } = goals[connections][peer]
    return {
      ...row(`tollgate / ${peer}: ${at}`, '×', (round) => round.tollgate.perSecond / round[peer].perSecond),
      goal: { atLeast: now },
      nextGoal: { atLeast: next },
    }
  }
}

/** Processor time per request. No rows where the system does not report it. */
export function costRows(subject: string, loads: readonly MeasuredLoad[]): Row[] {
  const parts = { server: 'the server', database: 'PostgreSQL' }
  return (['server', 'database'] as const).flatMap((part) => {
    const samples = loads.flatMap(({ cost }) => cost[part] ?? [])
    const name = `${subject}: processor time of ${parts[part]}`
    return samples.length > 0 ? [{ name, unit: 'µs/request', samples }] : []
  })
}

/** Memory of the server process alone, without the database. No rows where the system does not report it. */
export function memoryRows(pid: number, requests: number): Row[] {
  const memory = memoryOf(pid)
  if (!memory) return []
  const name = `tollgate: memory after ${requests.toLocaleString('en-US')} requests`
  return [
    { name, unit: 'MB', samples: [memory.now], goal: { atMost: 200 } },
    { name: 'tollgate: peak memory', unit: 'MB', samples: [memory.peak] },
  ]
}
