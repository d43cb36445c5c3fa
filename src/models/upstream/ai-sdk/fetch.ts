import { fetch, Response, type Agent, type RequestInfo, type RequestInit } from 'undici'
import { createUsageMender } from '../chat/mended-usage.ts'
import type { RequestForm } from '../../vendors/vendor.ts'
import { createChatMender, streamOfWhole } from './mended-chat.ts'
import { createForms, formAfterRefusal, withOneSystem } from '../chat/request-form.ts'

/** What a model hears of the requests that a package sends for it, by the signal of each. */
interface Listeners {
  /** Called with the body before it is sent. Throws what is wrong with it. */
  readonly sending: (signal: AbortSignal, body: string) => void
  /** Called for the bytes of a stream. */
  readonly received: (signal: AbortSignal) => void
}

/**
 * The `fetch` of a provider package, over the connections of `agent`. A refused request is sent once more in the form that the
 * server takes, which is remembered.
 */
export function createPackageFetch(agent: Agent, { sending, received }: Listeners) {
  const forms = createForms()

  async function send(input: RequestInfo, init: RequestInit, form: RequestForm): Promise<Response> {
    const body = typeof init.body === 'string' && { body: inForm(init.body, form) }
    // Following a redirect would send the key to another host.
    const answer = await fetch(input, { ...init, ...body, redirect: 'error', dispatcher: agent })
    if (answer.status !== 400 && answer.status !== 422) {
      forms.keep(originOf(input), form)
      return answer.ok ? mended(answer, isStream(answer) || asksForStream(init), isChat(input), init.signal) : answer
    }
    const next = formAfterRefusal(form, answer.status, await answer.clone().text())
    if (!next) return answer
    await answer.body?.cancel()
    return send(input, init, next)
  }

  /** With a usage, and chat completions, that the package accepts. */
  function mended(answer: Response, streams: boolean, chat: boolean, signal: RequestInit['signal']): Response {
    const usage = createUsageMender()
    const completions = createChatMender()
    const mend = (body: string): string => (chat ? completions.mend(usage.mend(body)) : usage.mend(body))
    const mendLine = (line: string): string => {
      if (!line.startsWith('data:')) return line
      const data = line.slice(5).trim()
      // An empty event is nothing, but packages try to read it.
      const mendedData = data === '' ? '' : mend(data)
      return mendedData === '' ? '' : `data: ${mendedData}`
    }
    function mendRest(): string {
      if (!streams) return mend(text)
      return chat && !hasEvents ? streamOfWhole(text, mend) : mendLine(text)
    }
    const decoder = new TextDecoder()
    const encoder = new TextEncoder()
    let text = ''
    let hasEvents = false
    const mending = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (streams && signal) received(signal)
        text += decoder.decode(chunk, { stream: true })
        // Some gateways send a whole reply for models that cannot stream.
        if (!streams || (chat && !hasEvents && /^\s*(?:\{|$)/.test(text))) return
        hasEvents = true
        const end = text.lastIndexOf('\n') + 1
        if (end > 0) controller.enqueue(encoder.encode(text.slice(0, end).split('\n').map(mendLine).join('\n')))
        text = text.slice(end)
      },
      flush(controller) {
        text += decoder.decode()
        if (text !== '') controller.enqueue(encoder.encode(mendRest()))
      },
    })
    return answer.body ? new Response(answer.body.pipeThrough(mending), answer) : answer
  }

  return async (input: RequestInfo, init: RequestInit): Promise<Response> => {
    if (init.signal && typeof init.body === 'string') sending(init.signal, init.body)
    return send(input, init, forms.of(originOf(input)))
  }
}

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

const asksForStream = ({ body }: RequestInit): boolean => typeof body === 'string' && /"stream":\s*true/.test(body)

const isChat = (input: RequestInfo): boolean => addressOf(input).pathname.endsWith('/chat/completions')

const originOf = (input: RequestInfo): string => addressOf(input).origin

const addressOf = (input: RequestInfo): URL =>
  new URL(typeof input === 'string' || input instanceof URL ? input : input.url)

/** A request for chat completions in this form. Others have none of its fields but Anthropic's `max_tokens`, which has no other name. */
function inForm(body: string, { bound, streamOptions, oneSystem }: RequestForm): string {
  if (bound === 'max_tokens' && streamOptions && !oneSystem) return body
  const sent: unknown = JSON.parse(body)
  if (typeof sent !== 'object' || sent === null || !('max_tokens' in sent)) return body
  const { max_tokens: most, ...rest } = sent
  const list: unknown = 'messages' in rest ? rest.messages : undefined
  return JSON.stringify({
    ...rest,
    [bound]: most,
    ...(!streamOptions && { stream_options: undefined }),
    ...(oneSystem && Array.isArray(list) && { messages: withOneSystem(list) }),
  })
}
