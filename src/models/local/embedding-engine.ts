import { Problem } from '../../platform/problems.ts'
import { base64OfFloats, noText } from '../embeddings.ts'
import type { CountOptions, EmbeddedTexts, EmbeddingOptions, Prompt, TokenCount, Usage } from '../model.ts'
import { callFailure } from './call-parts.ts'
import { cancelling, createEngineHost, endingSignal, type EngineNeeds, type LocalEngine } from './engine-host.ts'
import type { CountedMessage, TooLongMessage } from './protocol.ts'

export interface EmbeddingEngineNeeds extends EngineNeeds {
  /** The lengths to which the model's vectors can be cut. */
  readonly dimensions: readonly number[]
}

/** The child reports no progress within a text, which some models take minutes for. */
const defaultStallTimeout = 600_000

/**
 * Runs a GGUF embedding model in a child process, which starts and restarts as that of a text model. The requests in
 * progress take turns, text by text. Vectors have length 1.
 */
export function createEmbeddingEngine({ dimensions: shorter, ...needs }: EmbeddingEngineNeeds): LocalEngine {
  const host = createEngineHost({ stallTimeout: defaultStallTimeout, ...needs }, 'embeddings')
  const { log, calls, queue, supervisor } = host

  async function count(prompt: Prompt, options: CountOptions = {}): Promise<TokenCount> {
    const answer = await host.count(prompt, options)
    if (answer.kind === 'too-long') throw tooLong(answer, prompt, needs.context)
    if (answer.kind !== 'counted') throw callFailure(answer, log, options.requestId)
    checkDimensions(options.dimensions, answer, shorter)
    return { tokens: answer.tokens, exact: true }
  }

  async function embed(
    prompt: Prompt,
    { encoding, dimensions, account, yields, requestId }: EmbeddingOptions,
    signal: AbortSignal,
  ): Promise<EmbeddedTexts> {
    host.assertOpen()
    const arrivedAt = performance.now()
    using turn = await queue.enter({ signal, account, yields })
    const ends = endingSignal(turn, signal)
    const child = turn && (await supervisor.available(arrivedAt, ends))
    if (!child || ends.aborted) return { vectors: undefined, usage: usageOf(0) }
    using call = calls.open()
    using _ = cancelling(child, call, ends)
    child.send({ kind: 'embed', id: call.id, prompt, dimensions })
    const answer = await call.next()
    if (answer.kind === 'too-long') throw tooLong(answer, prompt, needs.context)
    if (answer.kind !== 'embedded') throw callFailure(answer, log, requestId)
    const vectors = answer.vectors?.map((vector) => (encoding === 'base64' ? base64OfFloats(vector) : [...vector]))
    return { vectors, usage: usageOf(answer.tokens) }
  }

  return Object.freeze({ ...host.common, ...noText, count, embed })
}

const usageOf = (inputTokens: number): Usage => ({ inputTokens, outputTokens: 0, source: 'model' })

function tooLong({ tokens, place }: TooLongMessage, { messages }: Prompt, context: number): Problem {
  const field = messages.length === 1 ? 'input' : `input[${place}]`
  return new Problem(
    'context_length_exceeded',
    `The context of this model is ${context} tokens; the text ${field} has ${tokens}. Shorten it, or split it into several texts.`,
    { field },
  )
}

/** Throws Problem `invalid_field` for a length that the model does not support. */
function checkDimensions(
  dimensions: number | undefined,
  { vectorLength }: CountedMessage,
  shorter: readonly number[],
): void {
  const supported = [vectorLength, ...shorter.filter((each) => each < (vectorLength ?? 0))]
  if (dimensions === undefined || supported.includes(dimensions)) return
  throw new Problem(
    'invalid_field',
    `The field dimensions must be ${supported.join(' or ')} for this model, or omitted.`,
    { field: 'dimensions' },
  )
}
