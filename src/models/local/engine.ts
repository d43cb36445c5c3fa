import type { Capability } from '../capabilities.ts'
import type { CountOptions, Prompt, StreamPart, TokenCount } from '../model.ts'
import { callFailure, endPart, partsOf, wholeOf } from './call-parts.ts'
import { asCall, forcedTools, replyGrammar } from './forced-call.ts'
import { cancelling, createEngineHost, endingSignal, type EngineNeeds, type LocalEngine } from './engine-host.ts'
import type { RunOrder } from './protocol.ts'

export type { LocalEngine } from './engine-host.ts'

export interface LocalEngineNeeds extends EngineNeeds {
  readonly maxOutputTokens: number
}

/** A grammar enforces JSON, and the arguments of a call. */
const ofLocalModels: ReadonlySet<Capability> = new Set(['json', 'forced_tools'])
const defaultStallTimeout = 120_000

/**
 * Runs a GGUF model in a child process. The child starts at once and is restarted whenever it ends. If it ends, runs in
 * progress fail with Problem `unavailable`, and later runs wait for the restart.
 */
export function createLocalEngine({ maxOutputTokens, ...needs }: LocalEngineNeeds): LocalEngine {
  const host = createEngineHost({ stallTimeout: defaultStallTimeout, ...needs }, 'text')
  const { log, calls, queue, supervisor } = host

  async function* pieces(
    { prompt, limits, stream }: Pick<RunOrder, 'prompt' | 'limits' | 'stream'>,
    signal: AbortSignal,
  ): AsyncGenerator<StreamPart, void, void> {
    host.assertOpen()
    const grammar = replyGrammar(prompt)
    const tools = forcedTools(prompt)
    const arrivedAt = performance.now()
    using turn = await queue.enter({ signal, account: limits.account, yields: limits.yields })
    const ends = endingSignal(turn, signal)
    const child = turn && (await supervisor.available(arrivedAt, ends))
    if (!child || ends.aborted) {
      yield endPart('cancelled', 0, 0)
      return
    }
    using call = calls.open()
    using _ = cancelling(child, call, ends)
    // A stop string ends a text, never the arguments of a call.
    const bounds = tools.length === 0 ? limits : { ...limits, stop: undefined }
    child.send({ kind: 'run', id: call.id, prompt, limits: bounds, grammar, stream })
    const parts = partsOf(call, { limits, context: needs.context, log })
    yield* tools.length === 0 ? parts : asCall(parts, tools)
  }

  async function count(prompt: Prompt, options: CountOptions = {}): Promise<TokenCount> {
    host.assertOpen()
    // A schema that cannot be enforced is refused before anything is held.
    replyGrammar(prompt)
    const answer = await host.count(prompt, options)
    if (answer.kind !== 'counted') throw callFailure(answer, log, options.requestId)
    return { tokens: answer.tokens, exact: true }
  }

  return Object.freeze<LocalEngine>({
    ...host.common,
    maxOutputTokens,
    capabilities: ofLocalModels,
    count,
    run: (prompt, limits, signal) => wholeOf(pieces({ prompt, limits, stream: false }, signal)),
    stream: (prompt, limits, signal) => pieces({ prompt, limits, stream: true }, signal),
  })
}
