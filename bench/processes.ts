import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { costRows } from './http-rows.ts'
import { startLoadGenerator } from './load-process.ts'
import { measureLoad, type MeasuredLoad } from './measured-load.ts'
import { startTollgate, startVendor, upstreamUrl, type Peer } from './peers.ts'
import type { Row } from './row.ts'
import { freePort, type ServerProcess } from './server-process.ts'
import { install, proveBooks, type Installation } from './tollgate.ts'

const folder = join(import.meta.dirname, 'data/processes')
const rounds = 7
const seconds = { warmUp: 10, round: 2 }
const connections = 128

/** An installation with some value of `listen.processes`, and the loads it has served. */
interface Subject {
  readonly processes: number
  readonly installation: Installation
  readonly peer: Peer
  /** The process id of its PostgreSQL server. */
  readonly database: number
  /** The first is the warm-up. */
  readonly loads: MeasuredLoad[]
}

/**
 * Requests/s and processor time of `POST /v1/generate` with `listen.processes` 1 and 2, each with its own database, in front
 * of one upstream and in alternating rounds. Throws if a response is wrong, if a ledger does not match the replies, or if
 * `verify` finds a fault.
 */
export async function benchProcesses(): Promise<Row[]> {
  const started: ServerProcess[] = []
  const generator = startLoadGenerator()
  try {
    const vendor = await freePort()
    await mkdir(folder, { recursive: true })
    await startVendor({ folder, started }, vendor)
    const one = await startSubject(1, vendor, started)
    const two = await startSubject(2, vendor, started)
    for (let round = 0; round <= rounds; round++) {
      const load = { connections, seconds: round === 0 ? seconds.warmUp : seconds.round }
      for (const { processes, peer, database, loads } of [one, two]) {
        const name = `listen.processes ${processes}`
        loads.push(await measureLoad(generator, peer, { name, database, ...load }))
      }
    }
    for (const subject of [one, two]) await prove(subject)
    return compare(one, two)
  } finally {
    generator.close()
    await Promise.all(started.map((process) => process.stop()))
  }
}

async function startSubject(processes: number, vendor: number, started: ServerProcess[]): Promise<Subject> {
  const place = join(folder, `${processes}`)
  const installation = await install(place, { upstream: upstreamUrl(vendor), accounts: 100, processes })
  const peer = await startTollgate({ folder: place, started }, await freePort(), installation)
  return { processes, installation, peer, database: await installation.databasePid(), loads: [] }
}

async function prove({ installation, peer, loads }: Subject): Promise<void> {
  await peer.process.stop()
  // One request recorded the expected response.
  await proveBooks(installation, 1 + loads.reduce((sum, { responses }) => sum + responses, 0))
}

function compare(one: Subject, two: Subject): Row[] {
  const measured = (subject: Subject): MeasuredLoad[] => subject.loads.slice(1)
  const rates = (subject: Subject): number[] => measured(subject).map(({ perSecond }) => perSecond)
  const at = `at ${connections} connections`
  const bySubject = [one, two].flatMap((subject) => {
    const name = `listen.processes ${subject.processes} ${at}`
    return [
      { name, unit: 'requests/s', samples: rates(subject) },
      { name: `${name}: p99`, unit: 'ms', samples: measured(subject).map(({ latency }) => latency.p99) },
      ...costRows(name, measured(subject)),
    ]
  })
  const ratios = rates(two).map((rate, round) => rate / (rates(one)[round] ?? Number.NaN))
  return [...bySubject, { name: `listen.processes 2 / 1 ${at}`, unit: '×', samples: ratios }]
}
