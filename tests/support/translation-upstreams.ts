import type { Prompt } from '../../src/models/conversation.ts'
import type { RunLimits, StreamPart, WholeReply } from '../../src/models/model.ts'
import { createAiSdkModel } from '../../src/models/upstream/ai-sdk/ai-sdk.ts'
import { readCompletion } from '../../src/models/upstream/chat/chat-completions.ts'
import { createRequestWriter } from '../../src/models/upstream/chat/chat-request.ts'
import { createChatStream } from '../../src/models/upstream/chat/chat-stream.ts'
import { relay, startReply } from '../../src/models/upstream/relay.ts'
import { wholeOf } from '../../src/models/upstream/usage.ts'
import { byteTokenizer } from '../../src/models/tokenizer/tokenizer.ts'
import { pino } from 'pino'
import { parseObject, type Json } from './json.ts'
import { providerOf, type PackageName } from './provider-packages.ts'
import type { Form } from './translation-form.ts'
import { readChat, readMessages, readResponses, type Asked } from './translation-readers.ts'
import { messages } from './vendor-anthropic.ts'
import type { Dialect } from './vendor-frames.ts'
import { chatCompletions } from './vendor-openai.ts'
import type { VendorOptions } from './vendor-options.ts'
import { responses } from './vendor-responses.ts'
import { modelOptions } from './vendor-run.ts'

/** What a vendor does with one request: it keeps the body, and answers with bytes that are cut anywhere. */
export interface Exchange {
  readonly limits: RunLimits
  readonly reply: VendorOptions
  /** The lengths of the chunks of a stream, in turn. */
  readonly cuts: readonly number[]
  readonly receive: (body: Json) => void
}

/** An engine in front of a vendor, without a socket between them. */
interface Engine {
  run(prompt: Prompt, exchange: Exchange): Promise<WholeReply>
  stream(prompt: Prompt, exchange: Exchange): AsyncIterable<StreamPart>
}

/** A vendor that is called by one of the engines. */
export interface Upstream {
  readonly name: string
  readonly form: Form
  /** The order of a reply: reasoning, a text and calls; calls after the texts; any. */
  readonly order: 'parts in turn' | 'calls last' | 'any'
  /** Whether reasoning is signed, whether it can be withheld. Unsigned reasoning is one part. */
  readonly signs: 'no' | 'all' | 'all, and withholds some'
  readonly engine: Engine
  readonly read: (body: Json) => Asked
}

const log = pino({ level: 'silent' })
const signal = new AbortController().signal

function chunksOf(bytes: Buffer, cuts: readonly number[]): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const size = cuts[next % cuts.length] ?? bytes.length
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

const streamOf = (dialect: Dialect<VendorOptions>, { reply, cuts }: Exchange): readonly Buffer[] => {
  const { head, tokens, finish, terminal } = dialect.frames(reply)
  return chunksOf(Buffer.concat([...head, ...tokens, ...finish, terminal]), cuts)
}

// ---- engine: openai

function openAiEngine(name: string): Engine {
  const write = createRequestWriter({ name, reasons: false })
  const ask = (prompt: Prompt, { limits, receive }: Exchange, isStream: boolean) => {
    receive(
      parseObject(write(prompt, limits, isStream, { bound: 'max_tokens', streamOptions: true, oneSystem: false })),
    )
    return { prompt, limits, signal, log, tokenizer: byteTokenizer }
  }
  return {
    run(prompt, exchange) {
      const run = ask(prompt, exchange, false)
      return Promise.resolve(wholeOf(readCompletion(chatCompletions.whole(exchange.reply), run), run))
    },
    stream(prompt, exchange) {
      const run = ask(prompt, exchange, true)
      const source = sourceOf(streamOf(chatCompletions, exchange))
      return relay(run, async () => ({
        ...(await startReply(createChatStream(source, run))),
        reportFailure: () => undefined,
      }))
    },
  }
}

const nothing = (): void => undefined

function sourceOf(chunks: readonly Buffer[]): Parameters<typeof createChatStream>[0] {
  const rest = chunks.values()
  return { read: () => Promise.resolve(rest.next().value ?? 'end'), finish: nothing, abandon: nothing }
}

// ---- engine: ai-sdk

function packageEngine(name: PackageName, upstreamModel: string, dialect: Dialect<VendorOptions>): Engine {
  let current: Exchange | undefined
  function answer(_: unknown, { body }: { readonly body: string }): Promise<Response> {
    if (!current) throw new Error('No exchange is under way.')
    const request = parseObject(body)
    current.receive(request)
    if (request['stream'] !== true)
      return Promise.resolve(responseOf('application/json', [dialect.whole(current.reply)]))
    return Promise.resolve(responseOf('text/event-stream', streamOf(dialect, current)))
  }
  const provider = providerOf(name)
  const model = createAiSdkModel({
    ...modelOptions,
    id: 'fast',
    package: name,
    key: 'k',
    url: 'http://vendor.test/v1',
    log,
    upstreamModel,
    provider: (settings, asked) => provider({ ...settings, fetch: answer }, asked),
  })
  const ask = (exchange: Exchange): RunLimits => {
    current = exchange
    return exchange.limits
  }
  return {
    run: (prompt, exchange) => model.run(prompt, ask(exchange), signal),
    stream: (prompt, exchange) => model.stream(prompt, ask(exchange), signal),
  }
}

function responseOf(type: string, chunks: readonly Buffer[]): Response {
  const rest = chunks.values()
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const { value, done } = rest.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
  return new Response(body, { headers: { 'content-type': type } })
}

// ---- What each vendor takes

const plainChat: Form = {
  marks: 'none',
  marksEmptyResults: false,
  failedResults: false,
  detail: true,
  parsesInput: false,
  reasoning: 'none',
  blankTexts: true,
}

const ofChat = { order: 'parts in turn', signs: 'no', read: readChat } as const

export const upstreams: readonly Upstream[] = [
  { ...ofChat, name: 'openai engine, a model that takes nothing else', form: plainChat, engine: openAiEngine('m') },
  {
    ...ofChat,
    name: 'openai engine, DeepSeek',
    form: { ...plainChat, reasoning: 'in calls' },
    engine: openAiEngine('deepseek-chat'),
  },
  {
    ...ofChat,
    name: 'openai engine, Claude behind a gateway',
    signs: 'all, and withholds some',
    form: { ...plainChat, marks: 'all', reasoning: 'signed' },
    engine: openAiEngine('anthropic/claude'),
  },
  {
    name: '@ai-sdk/anthropic',
    form: {
      marks: 'all',
      marksEmptyResults: true,
      failedResults: true,
      detail: false,
      parsesInput: true,
      reasoning: 'signed',
      blankTexts: false,
    },
    // The package moves calls to the end of what is between two parts of reasoning.
    order: 'calls last',
    signs: 'all, and withholds some',
    engine: packageEngine('@ai-sdk/anthropic', 'claude-opus-4-8', messages),
    read: readMessages,
  },
  {
    name: '@ai-sdk/openai',
    form: { ...plainChat, parsesInput: true, reasoning: 'signed', blankTexts: false },
    order: 'any',
    signs: 'all',
    engine: packageEngine('@ai-sdk/openai', 'gpt-5', responses),
    read: readResponses,
  },
  {
    ...ofChat,
    name: '@ai-sdk/openai-compatible',
    form: { ...plainChat, detail: false, parsesInput: true, blankTexts: false },
    engine: packageEngine('@ai-sdk/openai-compatible', 'm', chatCompletions),
  },
]
