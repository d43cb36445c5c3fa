import type { LoadGenerator } from './load-process.ts'
import type { LoadResult } from './load.ts'
import type { Peer } from './peers.ts'
import { processorTimeOf } from './proc.ts'

export interface MeasuredLoad extends LoadResult {
  /** Processor time per request, in µs; undefined where the system does not report it. */
  readonly cost: { readonly server: number | undefined; readonly database: number | undefined }
}

export interface Measurement {
  /** For messages. */
  readonly name: string
  readonly connections: number
  readonly seconds: number
  /** The process id of the peer's PostgreSQL server, if it has one. */
  readonly database?: number
  /** Whether to leave out the line on the terminal; default false. */
  readonly silent?: boolean
}

/** Runs one load against a peer and measures the processor time it took. Throws if a response is wrong or missing. */
export async function measureLoad(
  generator: LoadGenerator,
  { process: { pid }, target }: Peer,
  { name, connections, seconds, database, silent = false }: Measurement,
): Promise<MeasuredLoad> {
  const read = () => ({
    server: processorTimeOf(pid, database),
    database: database === undefined ? undefined : processorTimeOf(database),
  })
  const before = read()
  const result = await generator.run({ ...target, connections, seconds })
  const after = read()
  const { wrong, firstWrong, cut, responses, perSecond } = result
  if (wrong + cut > 0) throw new Error(`${name}: ${wrong} wrong responses (${firstWrong}), ${cut} cut off`)
  if (!silent) console.log(`  ${connections} connections, ${name}: ${Math.round(perSecond)} requests/s`)
  const perRequest = (part: keyof typeof after): number | undefined => {
    const [start, end] = [before[part], after[part]]
    return start === undefined || end === undefined ? undefined : ((end - start) / responses) * 1e6
  }
  return { ...result, cost: { server: perRequest('server'), database: perRequest('database') } }
}
