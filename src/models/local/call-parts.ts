import type { Logger } from 'pino'
import { Problem } from '../../platform/problems.ts'
import type { CallPart, Delta } from '../conversation.ts'
import type { RunLimits, StopReason, StreamEnd, StreamPart, WholeReply } from '../model.ts'
import type { Call, EngineAnswer, TextSoFar } from './calls.ts'

interface CallNeeds {
  readonly limits: RunLimits
  /** The most tokens that a prompt and its reply may have together. */
  readonly context: number
  readonly log: Logger
}

/** The parts of a run, from the answers of the child. Throws Problem if the run fails before its first text. */
export async function* partsOf(
  call: Call,
  { limits: { maxOutputTokens: requested, requestId }, context, log }: CallNeeds,
): AsyncGenerator<StreamPart, void, void> {
  let soFar: TextSoFar | undefined
  for (;;) {
    const answer = await call.next()
    if (answer.kind === 'too-long') throw tooLong(answer.tokens, requested, context)
    if (answer.kind === 'text') {
      soFar = answer
      yield { kind: 'texts', texts: [answer.text] }
    } else if (answer.kind === 'ended') {
      if (answer.text !== '') yield { kind: 'texts', texts: [answer.text] }
      return yield endPart(answer.stopReason, answer.inputTokens, answer.outputTokens)
    } else {
      const problem = callFailure(answer, log, requestId)
      if (!soFar) throw problem
      return yield { ...endPart('error', soFar.inputTokens, soFar.outputTokens), problem }
    }
  }
}

/** Joins the parts of a run to a whole reply: a text or a call. */
export async function wholeOf(parts: AsyncIterable<StreamPart>): Promise<WholeReply> {
  let text = ''
  let call: CallPart | undefined
  for await (const part of parts) {
    if (part.kind === 'end') {
      const { stopReason, usage } = part
      return { text, ...(call && { parts: [call] }), stopReason, usage }
    }
    if (part.kind === 'texts') text += part.texts.join('')
    else if (part.kind === 'deltas') call = part.deltas.reduce(withDelta, call)
  }
  throw new Error('a run ended without its end')
}

function withDelta(call: CallPart | undefined, delta: Delta): CallPart | undefined {
  if (delta.kind === 'call') return { kind: 'call', id: delta.id, tool: delta.tool, input: '' }
  return call && delta.kind === 'input' ? { ...call, input: call.input + delta.json } : call
}

export function endPart(stopReason: StopReason, inputTokens: number, outputTokens: number): StreamEnd {
  return { kind: 'end', stopReason, usage: { inputTokens, outputTokens, source: 'model' } }
}

/** The till counts prompts before it runs them. This covers other callers. */
function tooLong(tokens: number, requested: number, context: number): Problem {
  return new Problem(
    'context_length_exceeded',
    `The input (${tokens} tokens) and max_output_tokens (${requested}) exceed the model's context of ${context} tokens. Shorten the input or lower max_output_tokens.`,
    { field: 'input' },
  )
}

/** Logs why a call ended without a result. Neither the log nor the Problem contains text of the call. */
export function callFailure(answer: EngineAnswer, log: Logger, request_id: string | undefined): Problem {
  if (answer.kind === 'failed') log.error({ request_id, fault: answer.fault }, 'the engine failed a request')
  else log.warn({ request_id }, 'the engine ended during a request')
  return new Problem(
    'unavailable',
    'The model stopped during generation. Nothing was charged; send the request again.',
    {
      retryAfter: 1,
      cause: answer.kind,
    },
  )
}
