import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { Logger } from 'pino'
import type { TextMessage } from '../conversation.ts'
import { bytesOf, countedMessages, fileTokens } from '../counted.ts'
import type { CountOptions, Prompt } from '../model.ts'
import { templateInput, type TemplateInput } from '../upstream/chat/chat-request.ts'
import { createEndpoint, type Endpoint, type EndpointOptions } from '../upstream/pool/endpoint.ts'
import { Failure, refused, unusable } from '../upstream/failure.ts'
import { createMemberPool, type Member } from '../upstream/pool/pool.ts'
import type { ReceptionBounds } from '../upstream/pool/reception.ts'
import { anthropicPrompt } from './anthropic-prompt.ts'
import type { CountingApi } from './choice.ts'

/** Counts prompts with the upstream's own tokenizer and chat template. */
export interface ServerCount {
  /** Throws when no server answers within two seconds. */
  count(prompt: Prompt, options: CountOptions): Promise<number>
  close(): Promise<void>
}

export interface ServerCountNeeds {
  readonly api: CountingApi
  /** As for replies, with the version at the end of the address. */
  readonly endpoints: readonly EndpointOptions[]
  readonly upstreamModel: string
  /** Milliseconds. */
  readonly connect: number
  readonly log: Logger
}

/** Sends one request to a path of the server and returns the JSON of the reply. Throws Failure. */
type Send = (path: string, body: object) => Promise<unknown>

/** Milliseconds for the count of one prompt, retries included. */
const patience = 2000
const connections = 64
/** Bytes of a reply besides those of the prompt; some servers send a number for each token. */
const mostBytes = { reply: 64 * 1024, perByte: 16 }

const counted = Compile(Type.Object({ count: Type.Integer({ minimum: 0 }) }))
const rendered = Compile(Type.Object({ prompt: Type.String() }))
const tokenized = Compile(Type.Object({ tokens: Type.Array(Type.Unknown()) }))
const measured = Compile(Type.Object({ input_tokens: Type.Integer({ minimum: 0 }) }))

interface Api {
  readonly paths: readonly string[]
  /** The part of the configured address that the paths do not start with. */
  readonly strip: RegExp
  readonly headers?: (key: string) => readonly string[]
  readonly count: (send: Send, model: string, prompt: Prompt) => Promise<number>
}

const contentOf = ({ role, text }: TextMessage) => ({ role, content: text })

const apis: Readonly<Record<CountingApi, Api>> = {
  vllm: {
    paths: ['/tokenize'],
    strip: /\/v1\/?$/,
    async count(send, model, prompt) {
      const tokens = await showing(prompt, model, async (shown) => {
        const reply = await send('/tokenize', { model, ...shown })
        if (!counted.Check(reply)) throw unusable('not a count')
        return reply.count
      })
      return tokens + fileTokens(prompt, model)
    },
  },
  'llama-server': {
    paths: ['/apply-template', '/tokenize'],
    strip: /\/v1\/?$/,
    async count(send, model, prompt) {
      const content = await showing(prompt, model, async (shown) => {
        const reply = await send('/apply-template', shown)
        if (!rendered.Check(reply)) throw unusable('not a rendered prompt')
        return reply.prompt
      })
      const tokens = await send('/tokenize', { content, add_special: true, parse_special: true })
      if (!tokenized.Check(tokens)) throw unusable('not a list of tokens')
      return tokens.tokens.length + fileTokens(prompt, model)
    },
  },
  anthropic: {
    paths: ['/messages/count_tokens'],
    strip: /\/$/,
    headers: (key) => ['x-api-key', key, 'anthropic-version', '2023-06-01'],
    async count(send, model, prompt) {
      const reply = await send('/messages/count_tokens', { model, ...anthropicPrompt(prompt) })
      if (!measured.Check(reply)) throw unusable('not a count')
      return reply.input_tokens
    },
  },
}

/** What the server makes of a prompt: with its tools as tools, or as text if the server ignores or refuses them so. */
async function showing<Result extends number | string>(
  prompt: Prompt,
  model: string,
  look: (shown: object) => Promise<Result>,
): Promise<Result> {
  const input = toolsInput(prompt, model)
  const result = input && (await lookWithTools(input, look))
  return result ?? look({ messages: countedMessages(prompt).map(contentOf) })
}

/** Undefined without tools. Files are not sent to be counted, and templates do not show the schema of a reply. */
function toolsInput(prompt: Prompt, model: string): TemplateInput | undefined {
  const { tools = [], format } = prompt
  const isShown = tools.length > 0 && format?.kind !== 'schema' && fileTokens(prompt, model) === 0
  return isShown ? templateInput(prompt, model) : undefined
}

/** Older servers ignore tools here, but not in a request. They are found out by what they make of the messages alone. */
async function lookWithTools<Result>(
  { messages, tools }: TemplateInput,
  look: (shown: object) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const [shown, alone] = await Promise.all([look({ messages, tools }), look({ messages })])
    return shown === alone ? undefined : shown
  } catch (error) {
    if (error instanceof Failure && error.problem.code === 'upstream_failed') return undefined
    throw error
  }
}

/** One server: an endpoint for each path. */
interface Server extends Member {
  readonly paths: ReadonlyMap<string, Endpoint>
}

export function createServerCount(needs: ServerCountNeeds): ServerCount {
  const { upstreamModel, log } = needs
  const api = apis[needs.api]
  const servers = needs.endpoints.map((endpoint) => createServer(api, endpoint, needs.connect))
  const pool = createMemberPool({ members: servers, total: patience, pause: backoffLimit, log })

  async function count(prompt: Prompt, { signal = new AbortController().signal, requestId }: CountOptions) {
    const bounds = { mostBytes: mostBytes.reply + mostBytes.perByte * bytesOf(prompt), signal }
    const countAt = (server: Server, total: number) =>
      api.count((path, body) => ask(server, path, body, { ...bounds, first: total, total }), upstreamModel, prompt)
    const answered = await pool.run(countAt, { signal, limits: { requestId } })
    if (!answered) throw new Error('the caller disconnected')
    return answered.value
  }

  return Object.freeze({
    count,
    async close() {
      const endpoints = servers.flatMap(({ paths }) => [...paths.values()])
      await Promise.all(endpoints.map((endpoint) => endpoint.close()))
    },
  })
}

/** A retry waits at most this many ms: the caller is waiting for the reply, not for the count. */
const backoffLimit = 200

function createServer(api: Api, { url, key, weight }: EndpointOptions, connect: number): Server {
  const headers = key !== undefined && api.headers ? { headers: api.headers(key) } : { key }
  const endpoint = { url: url.replace(api.strip, ''), weight, ...headers }
  const limits = { connections, connect }
  const paths = new Map(api.paths.map((path) => [path, createEndpoint(path, endpoint, limits)]))
  const all = [...paths.values()]
  return { name: `${all[0]?.name} (count)`, weight, full: () => all.some((each) => each.full()), paths }
}

async function ask({ name, paths }: Server, path: string, body: object, bounds: ReceptionBounds): Promise<unknown> {
  if (bounds.signal.aborted) throw unusable('the caller disconnected')
  const answer = await paths.get(path)?.post(JSON.stringify(body), bounds)
  if (!answer) throw unusable('the caller disconnected')
  if (answer.status === 200) return parse(answer.body)
  const { status, retryAfter } = answer
  throw refused({ status, retryAfter, body: '', origin: name, code: 'no code' }, { maxOutputTokens: 0, context: 0 })
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    // The error of JSON.parse quotes the text.
    throw unusable('not JSON')
  }
}
