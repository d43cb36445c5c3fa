import { anthropicMessages } from '../../src/generation/dialects/anthropic/anthropic-messages.ts'
import type { Dialect } from '../../src/generation/dialects/dialect.ts'
import { openAiChat } from '../../src/generation/dialects/openai-chat/openai-chat.ts'
import { openAiResponses } from '../../src/generation/dialects/openai-responses/openai-responses.ts'
import type { Part, Prompt, TextPart } from '../../src/models/conversation.ts'
import { anthropicPrompt } from '../../src/models/tokenizer/anthropic-prompt.ts'
import { chatFields, chatMessages, collectChat } from './client-chat.ts'
import { chunksOf } from './scripted-reply.ts'
import { finalMessage } from './client-messages.ts'
import { receiveResponse, responseFields, responseItem } from './client-responses.ts'
import { at, listAt, objectAt, parseObject, type Json } from './json.ts'
import type { Form } from './translation-form.ts'

/** What a request has besides its turns. */
export interface Settings extends Omit<Prompt, 'messages'> {
  readonly system: TextPart | undefined
}

/** A reply as a client received it. */
export interface Heard {
  /** What it sends back as the assistant's turn. */
  readonly turn: readonly unknown[]
  readonly usage: HeardUsage
  readonly stop: unknown
}

/** Tokens as a client counts them: all of the prompt, read from the cache, written to it, all of the reply, of reasoning. */
export type HeardUsage = readonly [prompt: number, cached: number, written: number, output: number, reasoning: number]

/** A program that speaks a dialect and keeps the conversation in its form. */
export interface Client {
  readonly name: string
  readonly dialect: Dialect
  readonly form: Form
  /** Whether a turn of the assistant has one text, before its calls. */
  readonly hasOneText: boolean
  /** Whether a result can have files. */
  readonly filesInResults: boolean
  /** A turn of the user. */
  asks(parts: readonly Part[]): readonly Json[]
  body(settings: Settings, history: readonly unknown[]): Json
  whole(reply: Json): Heard
  streamed(events: string): Promise<Heard>
  /** How its API says that a reply is complete, is cut off, or was filtered. */
  readonly stops: { readonly stop: unknown; readonly length: unknown; readonly content_filter: unknown }
  /** The same for a complete reply with calls. */
  readonly calling: unknown
}

const request = { model: 'fast' }
const maxTokens = 100_000
const count = (value: unknown): number => Number(value ?? 0)

const openAiForm = {
  marks: 'none',
  marksEmptyResults: false,
  failedResults: false,
  detail: true,
  parsesInput: false,
  reasoning: 'all',
  blankTexts: true,
} as const

const messages: Client = {
  name: 'messages',
  dialect: anthropicMessages,
  form: {
    marks: 'all',
    marksEmptyResults: true,
    failedResults: true,
    detail: false,
    parsesInput: true,
    reasoning: 'all',
    blankTexts: true,
  },
  hasOneText: false,
  filesInResults: true,
  asks: (parts) => [turnOf(parts)],
  body: ({ system, ...settings }, history) => ({
    ...request,
    max_tokens: maxTokens,
    ...anthropicPrompt({ ...settings, messages: system ? [{ role: 'system', parts: [system] }] : [] }),
    messages: history,
  }),
  whole: hearMessage,
  streamed: async (events) => hearMessage(parseObject(JSON.stringify(await finalMessage(events)))),
  stops: { stop: 'end_turn', length: 'max_tokens', content_filter: 'refusal' },
  calling: 'tool_use',
}

const turnOf = (parts: readonly Part[]): Json =>
  objectAt(anthropicPrompt({ messages: [{ role: 'user', parts }] }), 'messages', 0)

function hearMessage(message: Json): Heard {
  const { role, content, usage, stop_reason: stop } = message
  const [cached, written] = [
    count(at(usage, 'cache_read_input_tokens')),
    count(at(usage, 'cache_creation_input_tokens')),
  ]
  const prompt = count(at(usage, 'input_tokens')) + cached + written
  const reasoning = count(at(usage, 'output_tokens_details', 'thinking_tokens'))
  return {
    turn: [{ role, content }],
    stop,
    usage: [prompt, cached, written, count(at(usage, 'output_tokens')), reasoning],
  }
}

const chat: Client = {
  name: 'chat completions',
  dialect: openAiChat,
  form: { ...openAiForm, marks: 'content' },
  hasOneText: true,
  filesInResults: false,
  asks: (parts) => chatMessages('user', parts),
  body: ({ system, ...settings }, history) => ({
    ...request,
    max_tokens: maxTokens,
    messages: [...(system ? chatMessages('system', [system]) : []), ...history],
    ...chatFields(settings),
    stream_options: { include_usage: true },
  }),
  whole: (completion) =>
    hearChat(
      at(completion, 'choices', 0, 'message'),
      at(completion, 'choices', 0, 'finish_reason'),
      completion['usage'],
    ),
  streamed(events) {
    const chunks = chunksOf(events)
    const stop = chunks.map((chunk) => at(chunk, 'choices', 0, 'finish_reason')).find((reason) => reason)
    return Promise.resolve(hearChat(collectChat(events), stop, at(chunks.at(-1), 'usage')))
  },
  stops: { stop: 'stop', length: 'length', content_filter: 'content_filter' },
  calling: 'tool_calls',
}

function hearChat(message: unknown, stop: unknown, usage: unknown): Heard {
  return {
    turn: [message],
    stop,
    usage: [
      count(at(usage, 'prompt_tokens')),
      count(at(usage, 'prompt_tokens_details', 'cached_tokens')),
      count(at(usage, 'prompt_tokens_details', 'cache_write_tokens')),
      count(at(usage, 'completion_tokens')),
      count(at(usage, 'completion_tokens_details', 'reasoning_tokens')),
    ],
  }
}

const responses: Client = {
  name: 'responses',
  dialect: openAiResponses,
  form: openAiForm,
  hasOneText: false,
  filesInResults: true,
  asks: (parts) => parts.map((part) => responseItem('user', part)),
  body: ({ system, ...settings }, history) => ({
    ...request,
    max_output_tokens: maxTokens,
    ...(system && { instructions: system.text }),
    input: history,
    ...responseFields(settings),
  }),
  whole: hearResponse,
  streamed: async (events) => hearResponse(parseObject(JSON.stringify((await receiveResponse(events)).final))),
  stops: { stop: 'completed', length: 'max_output_tokens', content_filter: 'content_filter' },
  calling: 'completed',
}

function hearResponse(response: Json): Heard {
  const { usage } = response
  return {
    turn: listAt(response, 'output'),
    stop: at(response, 'incomplete_details', 'reason') ?? response['status'],
    usage: [
      count(at(usage, 'input_tokens')),
      count(at(usage, 'input_tokens_details', 'cached_tokens')),
      count(at(usage, 'input_tokens_details', 'cache_write_tokens')),
      count(at(usage, 'output_tokens')),
      count(at(usage, 'output_tokens_details', 'reasoning_tokens')),
    ],
  }
}

export const clients: readonly Client[] = [messages, chat, responses]
