import type { MeasuredLoad } from './measured-load.ts'
import { memoryOf } from './proc.ts'
import type { Row } from './row.ts'

/** One load of Tollgate and of the limit, and perhaps of the other peers. */
export interface Round {
  readonly bare: MeasuredLoad | undefined
  readonly limit: MeasuredLoad
  readonly tollgate: MeasuredLoad
  readonly portkey: MeasuredLoad | undefined
}

/** Tollgate against the least that its promise costs. */
export function limitRows(
  rounds: readonly Round[],
  { connections, accounts }: { readonly connections: number; readonly accounts: number },
): Row[] {
  const at = `at ${connections} connections, ${accounts} ${accounts === 1 ? 'account' : 'accounts'}`
  const names = ['limit', 'tollgate'] as const
  return [
    ...names.map((name) => row(`${name}: ${at}`, 'requests/s', (round) => round[name].perSecond)),
    {
      ...row(`tollgate / limit: ${at}`, '×', ({ tollgate, limit }) => tollgate.perSecond / limit.perSecond),
      nextGoal: { atLeast: connections < 32 ? 0.7 : 0.8 },
    },
    {
      ...row(`tollgate / limit: p99 ${at}`, '×', ({ tollgate, limit }) => tollgate.latency.p99 / limit.latency.p99),
      nextGoal: { atMost: 2 },
    },
    ...names.flatMap((name) =>
      costRows(
        `${name} ${at}`,
        rounds.map((round) => round[name]),
      ),
    ),
  ]

  function row(name: string, unit: string, sample: (round: Round) => number): Row {
    return { name, unit, samples: rounds.map(sample) }
  }
}

/** Tollgate against the peers that keep nothing durable. */
export function peerRows(rounds: readonly Round[], connections: number): Row[] {
  const at = `at ${connections} connections`
  return (['bare', 'portkey'] as const).flatMap((peer) => {
    const loads = rounds.flatMap(({ [peer]: load, tollgate }) => (load ? [{ load, tollgate }] : []))
    const row = (
      name: string,
      unit: string,
      sample: (loads: { load: MeasuredLoad; tollgate: MeasuredLoad }) => number,
    ) => ({
      name,
      unit,
      samples: loads.map(sample),
    })
    const ratio = row(`tollgate / ${peer}: ${at}`, '×', ({ load, tollgate }) => tollgate.perSecond / load.perSecond)
    return [
      row(`${peer}: ${at}`, 'requests/s', ({ load }) => load.perSecond),
      row(`${peer}: p99 ${at}`, 'ms', ({ load }) => load.latency.p99),
      peer === 'portkey' && connections >= 32 ? { ...ratio, goal: { atLeast: 3 }, nextGoal: { atLeast: 6 } } : ratio,
      ...costRows(
        `${peer} ${at}`,
        loads.map(({ load }) => load),
      ),
    ]
  })
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
