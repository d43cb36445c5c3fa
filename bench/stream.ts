import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { liveMemoryOf } from './live-memory.ts'
import type { Row } from './row.ts'
import type { StreamOutcome } from './stream-load.ts'
import { openStage, roads, type Road, type Stage } from './stream-stage.ts'
import { verify } from './tollgate.ts'

/**
 * Streams through Tollgate, with key, limits, credit and durable ledger: what they add to the time to the first token, how
 * evenly 200 of them go on at once and what memory each takes, and how many events per second get through, against the
 * same upstream directly, a bare Fastify and undici proxy, and Portkey's gateway. Throws when a stream is not whole, when
 * the ledger is not what was streamed, or when the books do not prove.
 */
export async function benchStream(): Promise<Row[]> {
  const stage = await openStage(join(import.meta.dirname, 'data/stream'))
  try {
    const rows = [...(await firstToken(stage)), ...(await manyStreams(stage)), ...(await throughput(stage))]
    await stage.peers.tollgate.process.stop()
    await verify(stage.installation)
    const { ledgerRows, holds } = await stage.installation.books()
    if (ledgerRows !== stage.asked) throw new Error(`${stage.asked} streams, but ${ledgerRows} rows in the ledger`)
    if (holds !== 0) throw new Error(`${holds} holds are left`)
    return rows
  } finally {
    await stage.close()
  }
}

/** 100 streams a second begin at random moments; the stand-in answers each at once. */
async function firstToken({ play }: Stage): Promise<Row[]> {
  const load = { tokens: 10, perSecond: 100, seconds: 5 }
  await play('tollgate', { tokens: 10, connections: 32, seconds: 6 })
  const played: Record<'direct' | 'tollgate', StreamOutcome>[] = []
  for (let round = 0; round < 5; round++) {
    played.push({ direct: await play('direct', load), tollgate: await play('tollgate', load) })
  }
  const at = 'at 100 requests/s'
  return (['p50', 'p99'] as const).flatMap((quantile) => [
    {
      name: `direct: ${quantile} to the first token ${at}`,
      unit: 'ms',
      samples: played.map(({ direct }) => direct.firstText[quantile]),
    },
    {
      name: `tollgate: adds to ${quantile} of the first token ${at}`,
      unit: 'ms',
      samples: played.map(({ direct, tollgate }) => tollgate.firstText[quantile] - direct.firstText[quantile]),
      goal: { atMost: quantile === 'p50' ? 2 : 8 },
    },
  ])
}

/** 200 streams at once of 50 tokens/s each. */
async function manyStreams({ play, peers, inspectorPort }: Stage): Promise<Row[]> {
  const load = { tokens: 400, tokensPerSecond: 50, connections: 200, seconds: 0.5 }
  const gaps: Record<'direct' | 'tollgate', number[]> = { direct: [], tollgate: [] }
  for (const road of ['direct', 'tollgate', 'tollgate'] as const) gaps[road].push((await play(road, load)).longestGap)
  // Until the connections of the last load have been closed on both sides.
  await wait(6000)
  const look = () => liveMemoryOf(peers.tollgate.process.pid, inspectorPort)
  const before = await look()
  const playing = play('tollgate', load)
  await wait(4000)
  const during = await look()
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
    { name: 'tollgate: the same by what the process has of the machine', unit: 'kB', samples: kilobytes('resident') },
  ]
}

/** As many events as get through. */
async function throughput({ play }: Stage): Promise<Row[]> {
  const load = { tokens: 500, connections: 64, seconds: 2 }
  const rates: Record<Road, number[]> = { direct: [], bare: [], tollgate: [], portkey: [] }
  for (const road of roads) await play(road, { ...load, seconds: 2 })
  for (let round = 0; round < 5; round++) {
    for (const road of roads) {
      const { eventsPerSecond } = await play(road, load)
      console.log(`  ${road}: ${Math.round(eventsPerSecond)} events/s`)
      rates[road].push(eventsPerSecond)
    }
  }
  const ratio = (other: Road) => rates.tollgate.map((rate, round) => rate / (rates[other][round] ?? Number.NaN))
  return [
    ...roads.map((road) => ({ name: `${road}: events of 64 streams at once`, unit: 'events/s', samples: rates[road] })),
    { name: 'tollgate / bare: events', unit: '×', samples: ratio('bare') },
    { name: 'tollgate / portkey: events', unit: '×', samples: ratio('portkey'), goal: { atLeast: 4 } },
  ]
}
