import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { OperatorError, Problem } from '../../platform/problems.ts'
import type { CountOptions, Model, Prompt } from '../model.ts'
import { createCalls, type Call, type Calls, type EngineAnswer } from './calls.ts'
import { startEngineProcess, type EngineProcess } from './engine-process.ts'
import type { LoadOrder } from './protocol.ts'
import { createQueue, type Queue, type Turn } from './queue.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'

export interface EngineNeeds {
  readonly id: string
  /** The GGUF file. */
  readonly file: string
  /** The most tokens that a prompt and its reply may have together, or a text to embed. */
  readonly context: number
  /** Runs in progress at the same time. */
  readonly parallel: number
  readonly log: Logger
  /** Runs that may wait for a slot. Default: four times `parallel`. */
  readonly queue?: number
  /** Milliseconds that `close` waits for running and waiting runs. Default 30 000. */
  readonly grace?: number
  /** Milliseconds without progress after which the child is killed and restarted. */
  readonly stallTimeout?: number
}

/** llama.cpp in a separate child process. */
export interface LocalEngine extends Model {
  /** Resolves when the model is first loaded. Throws OperatorError with the reason if loading fails. */
  ready(): Promise<void>
  /** The process id of the child. */
  pid(): number | undefined
}

/** The child process of an engine, with its queue and its calls: what engines of text and of embeddings share. */
export interface EngineHost {
  readonly log: Logger
  readonly calls: Calls
  readonly queue: Queue
  readonly supervisor: Supervisor
  /** Throws Problem `unavailable` when the engine closes. */
  assertOpen(): void
  /** The child's answer to a count. Throws Problem. */
  count(prompt: Prompt, options: CountOptions): Promise<EngineAnswer>
  readonly common: Pick<LocalEngine, 'id' | 'contextTokens' | 'cheapPrompt' | 'health' | 'ready' | 'pid' | 'close'>
}

/** Characters that an engine counts in a few milliseconds. A megabyte takes it up to a second. */
const cheapPrompt = 16_384
const waitingPerTurn = 4
const defaultGrace = 30_000

/** Starts the child process at once, and restarts it whenever it ends. */
export function createEngineHost(
  { id, context, file, parallel, grace = defaultGrace, ...needs }: EngineNeeds & { readonly stallTimeout: number },
  kind: LoadOrder['kind'],
): EngineHost {
  const log = needs.log.child({ model: id })
  const calls = createCalls()
  const queue = createQueue({ turns: parallel, waiting: needs.queue ?? waitingPerTurn * parallel })
  const supervisor = createSupervisor({ file, kind, log, start })
  let closing: Promise<void> | undefined

  function start(): EngineProcess {
    const child = startEngineProcess({
      order: { kind, file, context, parallel },
      log,
      stallTimeout: needs.stallTimeout,
      isBusy: () => calls.inFlight() > 0,
      onTexts: calls.takeTexts,
      onCall: calls.take,
    })
    void child.ended.then(calls.dropAll)
    return child
  }

  function assertOpen(): void {
    if (closing) throw new Problem('unavailable', 'The service is stopping. Send the request again.', { retryAfter: 1 })
  }

  async function count(prompt: Prompt, { signal }: CountOptions): Promise<EngineAnswer> {
    assertOpen()
    const child = await supervisor.available(performance.now(), signal)
    if (!child || signal?.aborted) throw uncounted()
    using call = calls.open()
    using _ = cancelling(child, call, signal)
    child.send({ kind: 'count', id: call.id, prompt })
    const answer = await call.next()
    if (signal?.aborted) throw uncounted()
    return answer
  }

  const common = {
    id,
    contextTokens: context,
    cheapPrompt,
    health: supervisor.health,
    async ready() {
      const fault = await supervisor.firstResult()
      if (fault !== undefined) throw new OperatorError(fault)
    },
    pid: supervisor.pid,
    close: () => (closing ??= settledWithin(queue.idle(), grace).then(() => supervisor.stop())),
  }
  return Object.freeze({ log, calls, queue, supervisor, assertOpen, count, common })
}

/** Waits for `work`, at most `ms` milliseconds. */
async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  const over = new AbortController()
  const grace = setTimeout(ms, undefined, { signal: over.signal }).catch(() => {})
  await Promise.race([work, grace])
  over.abort()
}

/** Aborts when the caller disconnects, or when the turn yields to another request. */
export const endingSignal = (turn: Turn | undefined, signal: AbortSignal): AbortSignal =>
  turn?.yielded ? AbortSignal.any([signal, turn.yielded]) : signal

/** Cancels the call in the child if `signal` aborts or the call is disposed of before its end. */
export function cancelling(child: EngineProcess, call: Call, signal?: AbortSignal): Disposable {
  const cancel = (): void => child.send({ kind: 'cancel', id: call.id })
  signal?.addEventListener('abort', cancel, { once: true })
  return {
    [Symbol.dispose]() {
      signal?.removeEventListener('abort', cancel)
      if (!call.isOver()) cancel()
    },
  }
}

function uncounted(): Problem {
  return new Problem('malformed_request', 'The caller disconnected before the tokens were counted.')
}
