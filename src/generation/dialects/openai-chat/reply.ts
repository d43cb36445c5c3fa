import { promptTokensOf } from '../../../billing/till/till.ts'
import type { CallPart, Delta, ReplyPart, ReasoningPart, TokenLogprob } from '../../../models/conversation.ts'
import type { ReplyChoice, StopReason } from '../../../models/model.ts'
import { choicesOf } from '../../finished-reply.ts'
import type { Reply } from '../../generation.ts'
import { customInput } from '../openai-responses/named-tools.ts'
import { createdAt, event, jsonAround, type EventWriter, type PieceWriter } from '../dialect.ts'
import { openAiErrorOf, writtenLogprobs } from '../openai.ts'

/** Replies as chat completions. */

const finishReasons: Readonly<Partial<Record<StopReason, string>>> = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
}

function finishReason({ stopReason, parts }: ReplyChoice): string {
  if (stopReason === 'complete' && parts?.some(isCall)) return 'tool_calls'
  return finishReasons[stopReason] ?? 'stop'
}

const isCall = (part: ReplyPart): part is CallPart => part.kind === 'call'

/** What decides how a reply is written. */
interface WriteOptions {
  readonly omitsReasoning: boolean
  /** The names of the tools whose input is a text. */
  readonly customTools: ReadonlySet<string>
}

export function completion(reply: Reply, options: WriteOptions): object {
  return {
    id: `chatcmpl-${reply.id}`,
    object: 'chat.completion',
    created: createdAt(reply.id),
    model: reply.model,
    choices: choicesOf(reply).map((choice, index) => ({
      index,
      message: messageOf(choice, options),
      logprobs: choice.logprobs ? logprobsOf(choice.logprobs) : null,
      finish_reason: finishReason(choice),
    })),
    usage: usageOf(reply),
  }
}

const logprobsOf = (logprobs: readonly TokenLogprob[]) => ({ content: writtenLogprobs(logprobs), refusal: null })

function messageOf({ text, parts = [] }: ReplyChoice, { omitsReasoning, customTools }: WriteOptions): object {
  const calls = parts.filter(isCall)
  const shown = omitsReasoning ? [] : parts
  const details = detailsOf(shown)
  const reasoning = shown.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join('')
  return {
    role: 'assistant',
    content: text === '' && calls.length > 0 ? null : text,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls.map((call) => callOf(call, customTools)) }),
  }
}

function callOf({ id, tool, input }: CallPart, customTools: ReadonlySet<string>): object {
  const written = customTools.has(tool) ? customInput(input) : input
  return { id, type: 'function', function: { name: tool, arguments: written } }
}

/**
 * The parts of reasoning, each with its place among the parts. Empty if `reasoning_content` is as good: for one part without a
 * signature, before everything else.
 */
function detailsOf(parts: readonly ReplyPart[]): readonly object[] {
  if (parts.every(({ kind }, index) => kind !== 'reasoning' || index === 0) && !isSigned(parts[0])) return []
  // A message has one text.
  const [firstText] = parts.filter(({ kind }) => kind === 'text')
  return parts
    .filter((part) => part.kind !== 'text' || part === firstText)
    .flatMap((part, index) => (part.kind === 'reasoning' ? [detailOf(part, index)] : []))
}

const isSigned = (part: ReplyPart | undefined) => part?.kind === 'reasoning' && part.signature !== undefined

function detailOf({ text, signature, redacted }: ReasoningPart, index: number): object {
  return redacted
    ? { type: 'reasoning.encrypted', data: signature, index }
    : { type: 'reasoning.text', text, signature, index }
}

function usageOf({ usage, reasoningTokens }: Reply): object {
  const promptTokens = promptTokensOf(usage)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: promptTokens + usage.outputTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, cache_write_tokens: usage.cacheWriteTokens },
    ...(reasoningTokens !== undefined && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}

interface StreamOptions extends WriteOptions {
  readonly withUsage: boolean
  /** Default: one. */
  readonly choices?: number | undefined
}

export function eventWriter(
  id: string,
  model: string,
  { withUsage, choices = 1, ...options }: StreamOptions,
): EventWriter {
  const common = { id: `chatcmpl-${id}`, object: 'chat.completion.chunk', created: createdAt(id), model }
  const usageOn = withUsage ? { usage: null } : {}
  const chunkOf = (choice: object) => ({ ...common, choices: [choice], ...usageOn })
  const first = choiceWriter(0, chunkOf, options)
  const others = Array.from({ length: choices - 1 }, (_, index) => choiceWriter(index + 1, chunkOf, options))
  return {
    ...first,
    opening: [first, ...others].map(({ opening }) => opening),
    others,
    closing(reply) {
      const last = [
        ...choicesOf(reply).flatMap(
          (choice, index) => (index === 0 ? first : others[index - 1])?.closing(choice) ?? [],
        ),
        ...(withUsage ? [{ ...common, choices: [], usage: usageOf(reply) }] : []),
        '[DONE]',
      ]
      return last.map((each) => event(undefined, each))
    },
    failure: (details, status) => event(undefined, { error: openAiErrorOf(details, status) }),
  }
}

/** Writes one choice as chunks. */
interface ChoiceWriter extends PieceWriter {
  readonly opening: string
  closing(choice: ReplyChoice): readonly (object | string)[]
}

function choiceWriter(
  index: number,
  chunkOf: (choice: object) => object,
  { omitsReasoning, customTools }: WriteOptions,
): ChoiceWriter {
  const chunk = (delta: object, finish_reason: string | null = null, logprobs: object | null = null) =>
    chunkOf({ index, delta, logprobs, finish_reason })
  const textChunk = jsonAround((content) => chunk({ content }))
  let calls: CallWriter | undefined
  return {
    opening: event(undefined, chunk({ role: 'assistant', content: '', refusal: null })),
    text: (content) => event(undefined, textChunk(content)),
    scored: (content, logprobs) => event(undefined, chunk({ content }, null, logprobsOf(logprobs))),
    deltas(deltas) {
      const writer = (calls ??= createCallWriter(chunk, customTools))
      const shown = omitsReasoning ? deltas.filter(({ kind }) => kind !== 'reasoning') : deltas
      return shown.flatMap((delta) => writer.write(delta)).map((each) => event(undefined, each))
    },
    closing(choice) {
      const details = omitsReasoning ? [] : detailsOf(choice.parts ?? [])
      return [
        ...(choice.stopReason === 'complete' ? (calls?.rest() ?? []) : []),
        // At once: libraries differ in how they join the details of several chunks.
        ...(details.length > 0 ? [chunk({ reasoning_details: details })] : []),
        chunk({}, finishReason(choice)),
      ]
    },
  }
}

/** Writes reasoning and calls as chunks. Signatures come last, with the reply. */
interface CallWriter {
  write(delta: Delta): readonly (object | string)[]
  /** What is left of the last call: its arguments if the model wrote none, or the input of a custom tool. */
  rest(): readonly string[]
}

function createCallWriter(chunk: (delta: object) => object, customTools: ReadonlySet<string>): CallWriter {
  let index = -1
  let isWithoutInput = false
  /** What the model wrote for a custom tool: a JSON string in an object, which can be decoded only at its end. */
  let customJson: string | undefined
  let inputChunk = inputChunkAt(index)
  const reasoningChunk = jsonAround((text) => chunk({ reasoning_content: text }))

  function inputChunkAt(at: number): (json: string) => string {
    return jsonAround((json) => chunk({ tool_calls: [{ index: at, function: { arguments: json } }] }))
  }

  function rest(): readonly string[] {
    if (customJson !== undefined) {
      const text = customInput(customJson)
      customJson = undefined
      return text === '' ? [] : [inputChunk(text)]
    }
    if (!isWithoutInput) return []
    isWithoutInput = false
    return [inputChunk('{}')]
  }

  function begin(id: string, name: string): object {
    index++
    isWithoutInput = true
    customJson = customTools.has(name) ? '' : undefined
    inputChunk = inputChunkAt(index)
    return chunk({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
  }

  return {
    write(delta) {
      if (delta.kind === 'reasoning') return [reasoningChunk(delta.text)]
      if (delta.kind === 'call') return [...rest(), begin(delta.id, delta.tool)]
      if (delta.kind === 'signature') return []
      if (customJson !== undefined) {
        customJson += delta.json
        return []
      }
      isWithoutInput = false
      return [inputChunk(delta.json)]
    },
    rest,
  }
}
