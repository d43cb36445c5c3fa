import { runExchanges, type LoadResult } from './load.ts'
import { startWorker, type Worker } from './worker.ts'

/** A load of GET requests, sent in turn. */
export interface GetLoad {
  readonly port: number
  readonly requests: readonly GetRequest[]
  readonly connections: number
  readonly seconds: number
}

export interface GetRequest {
  readonly path: string
  readonly cookie: string
  /** The response must have status 200 and exactly this body. */
  readonly expected: string
}

/** Starts a generator of GET requests in its own process. */
export const startGetGenerator = (): Worker<GetLoad, LoadResult> =>
  startWorker<GetLoad, LoadResult>(import.meta.filename)

function runGetLoad(load: GetLoad): Promise<LoadResult> {
  const exchanges = load.requests.map(({ path, cookie, expected }) => {
    const lines = [
      `GET ${path} HTTP/1.1`,
      `host: 127.0.0.1:${load.port}`,
      'accept: application/json',
      `cookie: ${cookie}`,
    ]
    return { request: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), expected: Buffer.from(expected) }
  })
  return runExchanges(exchanges, load)
}

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: GetLoad) => void runGetLoad(load).then((result) => process.send?.(result)))
}
