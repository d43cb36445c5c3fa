import cluster, { type Worker } from 'node:cluster'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { collectClusterMetrics } from '../../platform/metrics.ts'
import { OperatorError } from '../../platform/problems.ts'
import { endOf } from '../../platform/system/processes.ts'
import { isToSupervisor, type ServeOrder, type ToWorker } from './worker-messages.ts'

export interface Workers {
  /** The greeting of the first worker. */
  readonly greeting: string
  /** Makes `/readyz` of every worker return 503 from now on. Everything is still served. */
  leave(): void
  /** Lets every worker finish its requests, and resolves when all have ended. */
  close(): Promise<void>
}

interface WorkersNeeds {
  readonly order: Omit<ServeOrder, 'kind' | 'setUp'>
  readonly setUp: NonNullable<ServeOrder['setUp']>
  readonly log: Logger
  /** Stops the workers, also while they start. */
  readonly stop: AbortSignal
}

/** ms before a worker that ended is replaced. Doubles up to `most` if workers keep ending. */
const pauses = { first: 100, most: 10_000 }
/** A worker that ran for this many ms was healthy. */
const healthyAfter = 10_000

/**
 * Starts `config.listen.processes` workers on one port: this process accepts the connections and distributes them over
 * the workers. Replaces a worker that ends. Throws OperatorError if a worker fails to start at first, and some error if it is
 * stopped before all have started. No worker is left then.
 */
export async function startWorkers({ order, setUp, log, stop }: WorkersNeeds): Promise<Workers> {
  cluster.setupPrimary({
    exec: fileURLToPath(new URL('worker.ts', import.meta.url)),
    args: [],
    serialization: 'advanced',
  })
  const metricsText = collectClusterMetrics()
  const running = new Set<RunningWorker>()
  const closing = new AbortController()

  function begin(settings: Pick<ServeOrder, 'setUp'> = {}): RunningWorker {
    const worker = forkWorker({ kind: 'serve', ...order, ...settings }, metricsText)
    running.add(worker)
    void worker.ended.then(() => running.delete(worker))
    void worker.ready.then(
      () => log.info({ pid: worker.pid }, 'a worker is ready'),
      () => undefined,
    )
    return worker
  }

  async function keep(first: RunningWorker): Promise<void> {
    let pause = pauses.first
    for (let worker = first; ; worker = begin()) {
      const startedAt = performance.now()
      const reason = await worker.ended
      if (closing.signal.aborted) return
      pause = performance.now() - startedAt > healthyAfter ? pauses.first : Math.min(2 * pause, pauses.most)
      log.error({ pid: worker.pid, reason }, 'a worker ended and is replaced')
      await wait(pause, undefined, { signal: closing.signal }).catch(() => undefined)
      if (closing.signal.aborted) return
    }
  }

  async function endAll(): Promise<void> {
    closing.abort()
    for (const worker of running) worker.send({ kind: 'stop' })
    await Promise.all([...running].map((worker) => worker.ended))
  }
  const leave = (): void => running.forEach((worker) => worker.send({ kind: 'leave' }))
  let ending: Promise<void> | undefined
  const close = (): Promise<void> => (ending ??= endAll())

  try {
    stop.throwIfAborted()
    stop.addEventListener('abort', () => void close())
    const first = begin({ setUp })
    const greeting = await first.ready
    stop.throwIfAborted()
    const others = Array.from({ length: order.config.listen.processes - 1 }, () => begin())
    await Promise.all(others.map((worker) => worker.ready))
    for (const worker of [first, ...others]) void keep(worker)
    return Object.freeze({ greeting: greeting ?? '', leave, close })
  } catch (error) {
    await close()
    throw error
  }
}

interface RunningWorker {
  readonly pid: number | undefined
  /** Resolves with the greeting when the worker listens. Rejects if it cannot. */
  readonly ready: Promise<string | undefined>
  /** Resolves with the reason. */
  readonly ended: Promise<string>
  send(message: ToWorker): void
}

function forkWorker(order: ServeOrder, metricsText: () => Promise<string>): RunningWorker {
  const worker = cluster.fork()
  const ready = Promise.withResolvers<string | undefined>()
  const send = (message: ToWorker): void => sendTo(worker, message)
  let failure: string | undefined
  worker.on('message', (message: unknown) => {
    if (!isToSupervisor(message)) return
    if (message.kind === 'echo') send(message)
    else if (message.kind === 'ready') ready.resolve(message.greeting)
    else if (message.kind === 'failed') {
      failure = message.reason
      ready.reject(message.known ? new OperatorError(message.reason) : new Error(message.reason))
    } else {
      const { id } = message
      void metricsText().then(
        (text) => send({ kind: 'metrics', id, text }),
        () => send({ kind: 'metrics', id, text: '' }),
      )
    }
  })
  const ended = endOf(worker.process).then((reason) => failure ?? reason)
  void ended.then((reason) => ready.reject(new Error(`a worker ended: ${reason}`)))
  ready.promise.catch(() => undefined)
  send(order)
  return { pid: worker.process.pid, ready: ready.promise, ended, send }
}

function sendTo(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, undefined, () => undefined)
}
