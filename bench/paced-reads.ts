import { Agent, get } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { GetRequest } from './get-load.ts'
import { startWorker, type Worker } from './worker.ts'

/** GET requests at a fixed rate, sent in turn, whether the earlier ones have been answered or not. */
export interface PacedReads {
  readonly port: number
  readonly requests: readonly GetRequest[]
  readonly perSecond: number
  readonly seconds: number
}

export interface PacedResult {
  readonly responses: number
  readonly wrong: number
  /** ms from the time at which a request was due to the whole response. */
  readonly p95: number
}

/** Starts a generator in its own process. */
export const startPacedReader = (): Worker<PacedReads, PacedResult> =>
  startWorker<PacedReads, PacedResult>(import.meta.filename)

async function runPacedReads({ port, requests, perSecond, seconds }: PacedReads): Promise<PacedResult> {
  const agent = new Agent({ keepAlive: true })
  const start = performance.now()
  const latencies: number[] = []
  let wrong = 0

  const read = ({ path, cookie, expected }: GetRequest, due: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const headers = { accept: 'application/json', cookie }
      get({ agent, host: '127.0.0.1', port, path, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          latencies.push(performance.now() - due)
          if (response.statusCode !== 200 || Buffer.concat(chunks).toString() !== expected) wrong++
          resolve()
        })
      }).on('error', reject)
    })

  const pending: Promise<void>[] = []
  for (let n = 0; n < perSecond * seconds; n++) {
    const due = start + (n * 1000) / perSecond
    const pause = due - performance.now()
    if (pause > 0) await wait(pause)
    const request = requests[n % requests.length]
    // A timer may be late, which is not the server's doing.
    if (request) pending.push(read(request, performance.now()))
  }
  await Promise.all(pending)
  agent.destroy()
  latencies.sort((a, b) => a - b)
  return { responses: latencies.length, wrong, p95: latencies[Math.floor(latencies.length * 0.95)] ?? Number.NaN }
}

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: PacedReads) => void runPacedReads(load).then((result) => process.send?.(result)))
}
