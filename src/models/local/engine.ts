import { setTimeout } from 'node:timers/promises'
import type { Logger } from 'pino'
import { OperatorError, Problem } from '../../platform/problems.ts'
import type { Capability } from '../capabilities.ts'
import type { CountOptions, Model, Prompt, RunLimits, StreamPart, TokenCount } from '../model.ts'
import { callFailure, endPart, partsOf, wholeOf } from './call-parts.ts'
import { createCalls, type Call } from './calls.ts'
import { startEngineProcess, type EngineProcess } from './engine-process.ts'
import { grammarOf } from './grammar/grammar.ts'
import type { RunOrder } from './protocol.ts'
import { createQueue } from './queue.ts'
import { createSupervisor } from './supervisor.ts'

export interface LocalEngineNeeds {
  readonly id: string
  /** The GGUF file. */
  readonly file: string
  /** The most tokens that a prompt and its reply may have together. */
  readonly context: number
  readonly maxOutputTokens: number
  /** Runs that generate at the same time. */
  readonly parallel: number
  readonly log: Logger
  /** Runs that may wait for a slot. Default: four times `parallel`. */
  readonly queue?: number
  /** Milliseconds that `close` waits for running and waiting runs. Default 30 000. */
  readonly grace?: number
  /** Milliseconds without progress after which the child is killed and restarted. Default 120 000. */
  readonly stallTimeout?: number
}

/** llama.cpp in a separate child process. */
export interface LocalEngine extends Model {
  /** Resolves when the model is first loaded. Throws OperatorError with the reason if loading fails. */
  ready(): Promise<void>
  /** The process id of the child. */
  pid(): number | undefined
}

/** Characters that an engine counts in a few milliseconds. A megabyte takes it up to a second. */
const cheapPrompt = 16_384
/** A grammar enforces JSON. */
const ofLocalModels: ReadonlySet<Capability> = new Set(['json'])
const waitingPerTurn = 4
const defaultGrace = 30_000
const defaultStallTimeout = 120_000

/**
 * Runs a GGUF model in a child process. The child starts at once and is restarted whenever it ends. If it ends, runs in
 * progress fail with Problem `unavailable`, and later runs wait for the restart.
 */
export function createLocalEngine(needs: LocalEngineNeeds): LocalEngine {
  const { id, file, context, maxOutputTokens, parallel, stallTimeout = defaultStallTimeout } = needs
  const log = needs.log.child({ model: id })
  const calls = createCalls()
  const queue = createQueue({ turns: parallel, waiting: needs.queue ?? waitingPerTurn * parallel })
  const supervisor = createSupervisor({ file, log, start })
  let closing: Promise<void> | undefined

  function start(): EngineProcess {
    const child = startEngineProcess({
      order: { file, context, parallel },
      log,
      stallTimeout,
      isBusy: () => calls.underWay() > 0,
      onTexts: calls.takeTexts,
      onCall: calls.take,
    })
    void child.ended.then(calls.dropAll)
    return child
  }

  async function* pieces(
    { prompt, limits, stream }: Pick<RunOrder, 'prompt' | 'limits' | 'stream'>,
    signal: AbortSignal,
  ): AsyncGenerator<StreamPart, void, void> {
    assertOpen()
    const grammar = prompt.format && grammarOf(prompt.format)
    const arrivedAt = performance.now()
    using turn = await queue.enter({ signal, account: limits.account })
    const child = turn && (await supervisor.available(arrivedAt, signal))
    if (!child || signal.aborted) {
      yield endPart('cancelled', 0, 0)
      return
    }
    using call = calls.open()
    using _ = cancelling(child, call, signal)
    child.send({ kind: 'run', id: call.id, prompt, limits, grammar, stream })
    yield* partsOf(call, { limits, context, log })
  }

  async function count(prompt: Prompt, { signal, requestId }: CountOptions = {}): Promise<TokenCount> {
    assertOpen()
    // A schema that cannot be enforced is refused before anything is held.
    if (prompt.format) grammarOf(prompt.format)
    const child = await supervisor.available(performance.now(), signal)
    if (!child || signal?.aborted) throw uncounted()
    using call = calls.open()
    using _ = cancelling(child, call, signal)
    child.send({ kind: 'count', id: call.id, prompt })
    const answer = await call.next()
    if (signal?.aborted) throw uncounted()
    if (answer.kind !== 'counted') throw callFailure(answer, log, requestId)
    return { tokens: answer.tokens, exact: true }
  }

  function assertOpen(): void {
    if (closing) throw new Problem('unavailable', 'The service is stopping. Send the request again.', { retryAfter: 1 })
  }

  return Object.freeze({
    id,
    contextTokens: context,
    maxOutputTokens,
    capabilities: ofLocalModels,
    cheapPrompt,
    count,
    run: (prompt: Prompt, limits: RunLimits, signal: AbortSignal) =>
      wholeOf(pieces({ prompt, limits, stream: false }, signal)),
    stream: (prompt: Prompt, limits: RunLimits, signal: AbortSignal) =>
      pieces({ prompt, limits, stream: true }, signal),
    health: supervisor.health,
    async ready() {
      const fault = await supervisor.firstResult()
      if (fault !== undefined) throw new OperatorError(fault)
    },
    pid: supervisor.pid,
    close: () => (closing ??= settledWithin(queue.idle(), needs.grace ?? defaultGrace).then(() => supervisor.stop())),
  })
}

/** Waits for `work`, at most `ms` milliseconds. */
async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  const over = new AbortController()
  const grace = setTimeout(ms, undefined, { signal: over.signal }).catch(() => {})
  await Promise.race([work, grace])
  over.abort()
}

/** Cancels the call in the child if `signal` aborts or the call is disposed of before its end. */
function cancelling(child: EngineProcess, call: Call, signal?: AbortSignal): Disposable {
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
