import type { Delta, ReplyPart } from '../../../models/conversation.ts'
import type { StopReason } from '../../../models/model.ts'
import type { Reply, Start } from '../../generation.ts'
import { event, jsonAround, type ErrorDetails, type EventWriter } from '../dialect.ts'

/** How Anthropic's API writes a reply: whole, or as a stream of events. */

/** What a request says about its reply. */
export interface AskedReply {
  /** Its stop sequences. */
  readonly stops: readonly string[]
  /** Whether to leave out the text of reasoning. Its signatures are the same as with it. */
  readonly omitsReasoning: boolean
}

export function wholeMessage(reply: Reply, { stops, omitsReasoning }: AskedReply): string {
  const begun = JSON.stringify(envelope(reply.id, reply.model)).slice(0, -1)
  const blocks =
    reply.parts === undefined ? [textBlock(reply.text)] : reply.parts.map((part) => blockOf(part, omitsReasoning))
  const end = { ...ending(reply, stops), usage: usageOf(reply) }
  return `${begun},"content":[${blocks.join()}],${JSON.stringify(end).slice(1)}`
}

const envelope = (id: string, model: string) => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
  container: null,
  stop_details: null,
})

const textBlock = (text: string): string => JSON.stringify({ type: 'text', text })

/** A block as JSON. The input of a call stays as the model wrote it: numbers that JavaScript cannot hold are kept. */
function blockOf(part: ReplyPart, omitsReasoning: boolean): string {
  switch (part.kind) {
    case 'text':
      return textBlock(part.text)
    case 'reasoning':
      return JSON.stringify(thinkingBlock(omitsReasoning ? '' : part.text, part.signature, part.redacted))
    case 'call':
      return `${JSON.stringify(callBlock(part.id, part.tool)).slice(0, -1)},"input":${part.input}}`
  }
}

/** The reasoning of a model that does not sign it has an empty signature. */
const thinkingBlock = (thinking: string, signature = '', redacted?: true) =>
  redacted ? { type: 'redacted_thinking', data: signature } : { type: 'thinking', thinking, signature }

const callBlock = (id: string, name: string) => ({ type: 'tool_use', id, name, caller: { type: 'direct' } })

const stopReasons: Readonly<Partial<Record<StopReason, string>>> = {
  max_output_tokens: 'max_tokens',
  stop_sequence: 'stop_sequence',
  content_filter: 'refusal',
}

/** Models do not report which of several stop sequences was met. */
function ending({ stopReason, parts }: Reply, stops: readonly string[]) {
  const [only] = stopReason === 'stop_sequence' && stops.length === 1 ? stops : []
  const complete = parts?.some(({ kind }) => kind === 'call') ? 'tool_use' : 'end_turn'
  return { stop_reason: stopReasons[stopReason] ?? complete, stop_sequence: only ?? null }
}

function usageOf({ usage, reasoningTokens }: Pick<Reply, 'usage' | 'reasoningTokens'>) {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedTokens,
    ...(reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
  }
}

const writeEvent = (type: string, data: object = {}) => event(type, { type, ...data })

/** The first event may carry an estimate of the input tokens; the last one has the final usage. */
export function messageEvents(
  { id, model, inputTokens }: Pick<Start, 'id' | 'model' | 'inputTokens'>,
  { stops, omitsReasoning }: AskedReply,
): EventWriter {
  const opened = {
    ...envelope(id, model),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: usageOf({
      usage: { inputTokens, outputTokens: 0, cachedTokens: 0, cacheWriteTokens: 0 },
      reasoningTokens: undefined,
    }),
  }
  const blocks = createBlocks(omitsReasoning)
  return {
    opening: [writeEvent('message_start', { message: opened }), writeEvent('ping')],
    text: blocks.text,
    deltas: (deltas) => deltas.map(blocks.delta),
    closing: (reply) => [
      blocks.end(),
      writeEvent('message_delta', { delta: ending(reply, stops), usage: usageOf(reply) }),
      writeEvent('message_stop'),
    ],
    failure: (details, status) => event('error', anthropicErrorOf(details, status)),
  }
}

const textDeltaAt = (index: number) =>
  jsonAround((text) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }))

/** The blocks of a stream. A block opens with its first piece, because a reply may begin with any. */
function createBlocks(omitsReasoning: boolean) {
  let index = -1
  let open: 'text' | 'thinking' | 'call' | undefined
  let textDelta = textDeltaAt(0)

  const deltaEvent = (delta: object) => writeEvent('content_block_delta', { index, delta })

  function close(): string {
    if (open === undefined) return ''
    open = undefined
    return writeEvent('content_block_stop', { index })
  }

  function begin(kind: NonNullable<typeof open>, block: object): string {
    const closed = close()
    index++
    open = kind
    return closed + writeEvent('content_block_start', { index, content_block: block })
  }

  function beginText(): string {
    const begun = begin('text', { type: 'text', text: '' })
    if (index > 0) textDelta = textDeltaAt(index)
    return begun
  }

  const beginThinking = (): string => (open === 'thinking' ? '' : begin('thinking', thinkingBlock('')))

  return {
    text: (text: string): string => {
      if (open === 'text') return event('content_block_delta', textDelta(text))
      return beginText() + event('content_block_delta', textDelta(text))
    },
    delta: (delta: Delta): string => {
      switch (delta.kind) {
        case 'reasoning':
          return beginThinking() + (omitsReasoning ? '' : deltaEvent({ type: 'thinking_delta', thinking: delta.text }))
        case 'signature':
          return delta.redacted
            ? begin('thinking', thinkingBlock('', delta.signature, true)) + close()
            : beginThinking() + deltaEvent({ type: 'signature_delta', signature: delta.signature }) + close()
        case 'call':
          return begin('call', { ...callBlock(delta.id, delta.tool), input: {} })
        case 'input':
          return deltaEvent({ type: 'input_json_delta', partial_json: delta.json })
      }
    },
    /** Every reply has a block. */
    end: (): string => (index < 0 ? beginText() : '') + close(),
  }
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
}

/** After this refusal, its clients send the whole conversation instead of continuing one that the server holds. */
const noThreads = { details: { error_code: 'thread_unsupported_request', unsupported: [] } }

export function anthropicErrorOf({ reason, field, request_id }: ErrorDetails, status: number) {
  const type = errorTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
  return { type: 'error', error: { type, message: reason, ...(field === 'thread' && noThreads) }, request_id }
}
