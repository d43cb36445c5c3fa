import { loadDemo } from '../../demo/demo.ts'
import { openLog } from '../../platform/log/log.ts'
import { OperatorError } from '../../platform/problems.ts'
import { answerMetricsRequests } from '../../platform/metrics.ts'
import type { Service } from '../../service.ts'
import { databaseFault } from '../database-fault.ts'
import { greeting } from './greeting.ts'
import { serve } from './serve.ts'
import { endAtDeadline } from './stop-deadline.ts'
import { isToWorker, type ServeOrder, type ToSupervisor } from './worker-messages.ts'

/** A worker process, forked by `supervisor.ts`. It ends when the supervisor sends `stop`, or dies. */

// Ctrl-C and the closing of a terminal signal every process. The supervisor decides when workers stop.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)

const opened = openLog()
const { log } = opened
const metricsRequests = new Map<number, (text: string) => void>()
const echoes: (() => void)[] = []
let service: Service | undefined
let isStopping = false

answerMetricsRequests()
process.on('message', (message) => {
  if (!isToWorker(message)) return
  if (message.kind === 'serve') void begin(message)
  else if (message.kind === 'leave') service?.leave()
  else if (message.kind === 'stop') void stop()
  else if (message.kind === 'echo') echoes.shift()?.()
  else metricsRequests.get(message.id)?.(message.text)
})

async function begin({ config, databaseUrl, setUp }: ServeOrder): Promise<void> {
  try {
    service = await serve(
      { config, databaseUrl, log, metricsText, handedOver },
      setUp && ((prepared) => loadDemo(setUp.settings, { ...prepared, config, databaseUrl, log })),
    )
    if (setUp === undefined) return send({ kind: 'ready' })
    send({ kind: 'ready', greeting: await greeting(service, { ...setUp, config }) })
  } catch (reported) {
    // Closing the service makes the set-up of the first worker fail.
    if (isStopping) return
    const error = databaseFault(reported, config, databaseUrl)
    const reason = error instanceof Error ? error.message : String(error)
    send({ kind: 'failed', reason, known: error instanceof OperatorError })
    process.exitCode = 1
    await stop()
  }
}

/** One that does not serve yet ends at once, as if killed: what it waits for may take minutes. */
async function stop(): Promise<void> {
  isStopping = true
  endAtDeadline(log)
  await service?.close()
  opened.close()
  process.exit()
}

/** The metrics of all workers together, which the supervisor collects. */
function metricsText(): Promise<string> {
  const id = metricsRequests.size === 0 ? 1 : Math.max(...metricsRequests.keys()) + 1
  const { promise, resolve } = Promise.withResolvers<string>()
  metricsRequests.set(id, resolve)
  send({ kind: 'metrics', id })
  return promise.finally(() => metricsRequests.delete(id))
}

/** The supervisor sends one connection at a time. It may accept the next one only after it has returned the first echo. */
async function handedOver(): Promise<void> {
  for (let times = 0; times < 2; times++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    echoes.push(resolve)
    send({ kind: 'echo' })
    await promise
  }
}

function send(message: ToSupervisor): void {
  process.send?.(message, undefined, undefined, () => undefined)
}
