import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { liveMemoryOf } from './live-memory.ts'
import type { Row } from './row.ts'
import type { StreamResult } from './stream-load.ts'
import { openStreamStage, routes, type Route, type StreamStage } from './stream-stage.ts'
import { proveBooks } from './tollgate.ts'

/**
 * Streams through Tollgate with key, limits, credit and durable ledger: the time added to the first token, the longest gap
 * and the memory of 200 concurrent streams, and events/s, compared with the upstream itself, a bare Fastify and undici
 * proxy, and Portkey's gateway. Throws if a stream is incomplete, if the ledger does not match, or if `verify` finds a fault.
 */
export async function benchStream(): Promise<Row[]> {
  const stage = await openStreamStage(join(import.meta.dirname, 'data/stream'))
  try {
    const rows = [...(await firstToken(stage)), ...(await manyStreams(stage)), ...(await throughput(stage))]
    await stage.peers.tollgate.process.stop()
    await proveBooks(stage.installation, stage.served)
    return rows
  } finally {
    await stage.close()
  }
}

/** 100 streams a second start at random moments. The stand-in answers without delay. */
async function firstToken({ play }: StreamStage): Promise<Row[]> {
  const load = { tokens: 10, perSecond: 100, seconds: 5 }
  await play('tollgate', { tokens: 10, connections: 32, seconds: 6 })
  const played: Record<'direct' | 'bare' | 'tollgate', StreamResult>[] = []
  for (let round = 0; round < 5; round++) {
    // A short one, because Tollgate returns an account's allowance after ten seconds without a request.
    const [direct, bare] = [await play('direct', load), await play('bare', { ...load, seconds: 2 })]
    played.push({ direct, bare, tollgate: await play('tollgate', load) })
  }
  const at = 'at 100 requests/s'
  return (['p50', 'p99'] as const).flatMap((quantile) => [
    {
      name: `direct: ${quantile} to the first token ${at}`,
      unit: 'ms',
      samples: played.map(({ direct }) => direct.firstText[quantile]),
    },
    ...(['bare', 'tollgate'] as const).map((route): Row => {
      const samples = played.map((round) => round[route].firstText[quantile] - round.direct.firstText[quantile])
      const row = { name: `${route}: added to ${quantile} of the first token ${at}`, unit: 'ms', samples }
      return route === 'bare' ? row : { ...row, goal: { atMost: quantile === 'p50' ? 2 : 8 } }
    }),
  ])
}

/** 200 concurrent streams of 50 tokens/s each. */
async function manyStreams({ play, peers, inspectorPort }: StreamStage): Promise<Row[]> {
  const load = { tokens: 400, tokensPerSecond: 50, connections: 200, seconds: 0.5 }
  const gaps: Record<'direct' | 'tollgate', number[]> = { direct: [], tollgate: [] }
  for (const route of ['direct', 'tollgate', 'tollgate'] as const) {
    gaps[route].push((await play(route, load)).longestGap)
  }
  // Wait until both sides have closed the connections of the last load.
  await wait(6000)
  const read = () => liveMemoryOf(peers.tollgate.process.pid, inspectorPort)
  const before = await read()
  const playing = play('tollgate', load)
  await wait(4000)
  const during = await read()
  await playing
  const kilobytes = (part: 'live' | 'resident') => [(during[part] - before[part]) / 200 / 1000]
  return [
    { name: 'direct: longest gap in 200 streams of 50 tokens/s', unit: 'ms', samples: gaps.direct },
    {
      name: 'tollgate: longest gap in 200 streams of 50 tokens/s',
      unit: 'ms',
      samples: [Math.max(...gaps.tollgate)],
      goal: { atMost: 100 },
    },
    { name: 'tollgate: memory of one of 200 streams', unit: 'kB', samples: kilobytes('live'), goal: { atMost: 40 } },
    { name: 'tollgate: resident memory of one of 200 streams', unit: 'kB', samples: kilobytes('resident') },
  ]
}

/** Events/s of streams without a pace. */
async function throughput({ play }: StreamStage): Promise<Row[]> {
  const load = { tokens: 500, connections: 64, seconds: 2 }
  const rates: Record<Route, number[]> = { direct: [], bare: [], tollgate: [], portkey: [] }
  for (const route of routes) await play(route, { ...load, seconds: 2 })
  for (let round = 0; round < 5; round++) {
    for (const route of routes) {
      const { eventsPerSecond } = await play(route, load)
      console.log(`  ${route}: ${Math.round(eventsPerSecond)} events/s`)
      rates[route].push(eventsPerSecond)
    }
  }
  const ratio = (other: Route) => rates.tollgate.map((rate, round) => rate / (rates[other][round] ?? Number.NaN))
  return [
    ...routes.map((route) => ({ name: `${route}: events of 64 streams`, unit: 'events/s', samples: rates[route] })),
    { name: 'tollgate / bare: events', unit: '×', samples: ratio('bare') },
    { name: 'tollgate / portkey: events', unit: '×', samples: ratio('portkey'), goal: { atLeast: 4 } },
  ]
}
