import { join } from 'node:path'
import { startGetGenerator } from './get-load.ts'
import type { LoadResult } from './load.ts'
import { openRecordsStage, recordPeers, type Reads, type RecordPeer, type RecordsStage } from './records-stage.ts'
import type { Row } from './row.ts'
import { verify } from './tollgate.ts'

const rounds = 7
const seconds = { warmUp: 3, round: 2 }
const connections = 64

/** People who type concurrently. */
const typists = 4

type Round = Readonly<Record<RecordPeer, LoadResult>>

/**
 * Requests/s of `GET /clients/<id>` with session, policy, row-level security and durable audit, compared with a bare Fastify
 * handler that runs one prepared SELECT of the same record, and with one that first asks better-auth for the session. Also
 * the latency of the search as a consultant with 400 of 200 000 clients types. Throws if a response is wrong or missing in
 * the audit log, or if `verify` finds a fault.
 */
export async function benchRecords(): Promise<Row[]> {
  const stage = await openRecordsStage(join(import.meta.dirname, 'data/records'))
  const generator = startGetGenerator()
  const before = await stage.auditedReads()
  let responses = 0

  async function play(name: string, { port, requests }: Reads, load: { connections: number; seconds: number }) {
    const result = await generator.run({ port, requests, ...load })
    const { wrong, firstWrong, cut } = result
    if (wrong + cut > 0) throw new Error(`${name}: ${wrong} wrong responses (${firstWrong}), ${cut} cut off`)
    console.log(`  ${load.connections} connections, ${name}: ${Math.round(result.perSecond)} requests/s`)
    if (port === stage.reads.tollgate.port) responses += result.responses
    return result
  }
  const playRound = async (length: number): Promise<Round> => ({
    bare: await play('bare', stage.reads.bare, { connections, seconds: length }),
    tollgate: await play('tollgate', stage.reads.tollgate, { connections, seconds: length }),
    'better-auth': await play('better-auth', stage.reads['better-auth'], { connections, seconds: length }),
  })

  try {
    await playRound(seconds.warmUp)
    const played: Round[] = []
    const typed: LoadResult[] = []
    for (let round = 0; round < rounds; round++) {
      played.push(await playRound(seconds.round))
      typed.push(await play('tollgate, typing', stage.typing, { connections: typists, seconds: seconds.round }))
    }
    await prove(stage, before + responses)
    return [...rowsOf(played), ...typingRows(typed)]
  } finally {
    generator.close()
    await stage.close()
  }
}

function rowsOf(played: readonly Round[]): Row[] {
  const at = `at ${connections} connections`
  const rate = (peer: RecordPeer): Row => ({
    name: `record, ${peer}: ${at}`,
    unit: 'requests/s',
    samples: played.map((round) => round[peer].perSecond),
  })
  const ratio = (peer: RecordPeer, atLeast: number): Row => ({
    name: `record, tollgate / ${peer}: ${at}`,
    unit: '×',
    samples: played.map((round) => round.tollgate.perSecond / round[peer].perSecond),
    goal: { atLeast },
  })
  const latency = (quantile: 'p50' | 'p99'): Row => ({
    name: `record, tollgate: ${quantile} ${at}`,
    unit: 'ms',
    samples: played.map((round) => round.tollgate.latency[quantile]),
  })
  return [...recordPeers.map(rate), ratio('bare', 0.35), ratio('better-auth', 2), latency('p50'), latency('p99')]
}

function typingRows(typed: readonly LoadResult[]): Row[] {
  const latency = (quantile: 'p50' | 'p95') => typed.map((result) => result.latency[quantile])
  const name = `search as you type, ${typists} at a time`
  return [
    { name: `${name}: p50`, unit: 'ms', samples: latency('p50') },
    { name: `${name}: p95`, unit: 'ms', samples: latency('p95'), goal: { atMost: 20 } },
  ]
}

async function prove({ auditedReads, stopServers, installation }: RecordsStage, responses: number): Promise<void> {
  const reads = await auditedReads()
  if (reads !== responses) throw new Error(`${responses} responses, but ${reads} rows in the audit log`)
  await stopServers()
  await verify(installation)
}
