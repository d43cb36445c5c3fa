import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { messages } from './vendor-anthropic.ts'
import { answers, isWhole } from './vendor-faults.ts'
import { parseObject } from './json.ts'
import { serve } from './server.ts'
import { json, type Dialect } from './vendor-frames.ts'
import { chatCompletions } from './vendor-openai.ts'
import { responses } from './vendor-responses.ts'
import type { VendorOptions } from './vendor-options.ts'
import { play, streamFaults, type StreamFault } from './vendor-stream.ts'

/**
 * A stand-in for a vendor on a real socket. It behaves as instructed and records requests. It speaks OpenAI's chat
 * completions and responses and Anthropic's messages, whole and as streams. In each of them it thinks, calls tools and
 * reports cached tokens, whatever it was asked:
 *
 *     vendor.set({ thinking: 'Hm.', signature: 'c2ln', calls: [{ id: 'call_1', name: 'clock', input: '{"zone":"UTC"}' }] })
 *     vendor.set({ usage: { prompt_tokens: 100, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 80 } } })
 *
 * Each piece of reasoning, a text or a call's input is one token for `gate`, `after` and the pace.
 */
export interface Vendor {
  /** The `url` of an endpoint in the configuration. */
  readonly url: string
  /** Generation requests whose body arrived completely. */
  readonly calls: number
  /** Those whose connection was cut before the response ended. */
  readonly abandoned: number
  /** The last such request. */
  readonly last: { readonly headers: IncomingHttpHeaders; readonly body: unknown }
  /** Replaces the options. For a vendor in another process, use `PUT /control`. */
  set(options: VendorOptions): void
  /** Cuts every connection. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const dialects: readonly Dialect<VendorOptions>[] = [chatCompletions, responses, messages]

/** Starts a stand-in on 127.0.0.1, on a free port unless one is given. */
export async function startVendor(initial: VendorOptions = {}, port = 0): Promise<Vendor> {
  const seen: Seen = { calls: 0, abandoned: 0, last: undefined }
  let state = stateOf(initial)
  const server = await serve((request, response) => {
    collect(request, (text) => {
      const dialect = request.method === 'POST' && dialects.find(({ path }) => path === request.url)
      if (!dialect) return answerOther(request, response, text, seen, (changed) => (state = stateOf(changed)))
      noteCall(seen, request, response, text)
      answer(state, dialect, response, isStream(text))
    })
  }, port)

  return Object.freeze({
    ...server,
    url: `${server.url}/v1`,
    get calls() {
      return seen.calls
    },
    get abandoned() {
      return seen.abandoned
    },
    get last() {
      if (!seen.last) throw new Error('The stand-in has not been asked anything.')
      const body: unknown = JSON.parse(seen.last.text)
      return { headers: seen.last.headers, body }
    },
    set(changed: VendorOptions) {
      state = stateOf(changed)
    },
  })
}

/** The current options, with cached bytes for repeated replies. */
interface State {
  readonly options: VendorOptions
  /** Remaining calls with the fault. */
  faults: number
  readonly whole: (dialect: Dialect<VendorOptions>) => Buffer
  readonly frames: (dialect: Dialect<VendorOptions>) => ReturnType<Dialect<VendorOptions>['frames']>
}

function stateOf(options: VendorOptions): State {
  return {
    options,
    faults: options.times ?? Number.POSITIVE_INFINITY,
    whole: remember((dialect) => dialect.whole(options)),
    frames: remember((dialect) => dialect.frames(options)),
  }
}

function remember<Made>(make: (dialect: Dialect<VendorOptions>) => Made) {
  const made = new Map<Dialect<VendorOptions>, Made>()
  return (dialect: Dialect<VendorOptions>): Made => {
    const value = made.get(dialect) ?? make(dialect)
    made.set(dialect, value)
    return value
  }
}

function answer(state: State, dialect: Dialect<VendorOptions>, response: ServerResponse, stream: boolean): void {
  const { options } = state
  const fault = state.faults-- > 0 ? (options.fault ?? 'none') : 'none'
  const onTheWay = isStreamFault(fault) && (options.after !== undefined || !isWhole(fault)) ? fault : undefined
  const sendWhole = (): void => void answers[isWhole(fault) ? fault : 'none'](response, state.whole(dialect), options)
  const send = (): void => {
    if (stream && (fault === 'none' || onTheWay)) play(response, state.frames(dialect), options, onTheWay)
    else if (options.gate) void options.gate(0).then(sendWhole)
    else sendWhole()
  }
  if (options.delay === undefined) send()
  else setTimeout(send, options.delay)
}

const isStreamFault = (fault: string): fault is StreamFault => Object.hasOwn(streamFaults, fault)

function isStream(text: string): boolean {
  return /"stream":\s*true/.test(text)
}

interface Seen {
  calls: number
  abandoned: number
  last: { headers: IncomingHttpHeaders; text: string } | undefined
}

function collect(request: IncomingMessage, done: (text: string) => void): void {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (text += chunk))
  request.on('end', () => done(text))
}

function noteCall(seen: Seen, request: IncomingMessage, response: ServerResponse, text: string): void {
  seen.calls++
  seen.last = { headers: request.headers, text }
  response.on('close', () => (seen.abandoned += response.writableFinished ? 0 : 1))
}

/** The list of models, and the control of a stand-in in another process. */
function answerOther(
  { url, method }: IncomingMessage,
  response: ServerResponse,
  text: string,
  { calls, abandoned }: Seen,
  set: (options: VendorOptions) => void,
): void {
  if (url === '/v1/models') return answers.models(response)
  if (url !== '/control') return answers.unknown_address(response)
  if (method === 'PUT') {
    set(parseObject(text))
  }
  answers.none(response, json({ calls, abandoned }), {})
}
