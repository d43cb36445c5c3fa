import { exchange, type Outcome } from './load.ts'
import { startWorker, type Worker } from './worker.ts'

/** A load of GET requests, which are sent in turn. */
export interface GetLoad {
  readonly port: number
  readonly requests: readonly GetRequest[]
  readonly connections: number
  readonly seconds: number
}

export interface GetRequest {
  readonly path: string
  readonly cookie: string
  /** The body that the answer must have, to the byte, with status 200. */
  readonly expected: string
}

/** A generator of such loads in a process of its own. */
export const startGetGenerator = (): Worker<GetLoad, Outcome> => startWorker<GetLoad, Outcome>(import.meta.filename)

function runGetLoad(load: GetLoad): Promise<Outcome> {
  const exchanges = load.requests.map(({ path, cookie, expected }) => {
    const lines = [
      `GET ${path} HTTP/1.1`,
      `host: 127.0.0.1:${load.port}`,
      'accept: application/json',
      `cookie: ${cookie}`,
    ]
    return { request: Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), expected: Buffer.from(expected) }
  })
  return exchange(exchanges, load)
}

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: GetLoad) => void runGetLoad(load).then((outcome) => process.send?.(outcome)))
}
