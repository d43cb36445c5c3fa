import { startWorker, type Worker } from './worker.ts'

/** A wrong password to send. */
export interface Guess {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** They are sent at the same time. */
export interface GuessLoad {
  readonly guesses: readonly Guess[]
}

export interface GuessResult {
  /** How many responses had each status. */
  readonly statuses: Readonly<Record<string, number>>
  /** From the first guess to the last response. */
  readonly seconds: number
}

/** Starts a generator in its own process. */
export const startGuesser = (): Worker<GuessLoad, GuessResult> =>
  startWorker<GuessLoad, GuessResult>(import.meta.filename)

async function send({ guesses }: GuessLoad): Promise<GuessResult> {
  const start = performance.now()
  const statuses = await Promise.all(
    guesses.map(async ({ url, headers, body }) => {
      const response = await fetch(url, { method: 'POST', headers, body })
      await response.arrayBuffer()
      return response.status
    }),
  )
  const counts = Map.groupBy(statuses, String)
  return {
    statuses: Object.fromEntries([...counts].map(([status, each]) => [status, each.length])),
    seconds: (performance.now() - start) / 1000,
  }
}

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: GuessLoad) => void send(load).then((result) => process.send?.(result)))
}
