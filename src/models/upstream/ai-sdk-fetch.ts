import { fetch, Response, type Agent, type RequestInfo, type RequestInit } from 'undici'
import { createForms, formAfterRefusal, type RequestForm } from './request-form.ts'

/**
 * The `fetch` of a provider package, over the connections of `agent`. A refused request is sent once more in the form that the
 * server takes, which is remembered. `received` is called for the bytes of a stream.
 */
export function createPackageFetch(agent: Agent, received: (signal: AbortSignal) => void) {
  const forms = createForms()

  async function send(input: RequestInfo, init: RequestInit, form: RequestForm): Promise<Response> {
    const body = typeof init.body === 'string' && { body: inForm(init.body, form) }
    // Following a redirect would send the key to another host.
    const answer = await fetch(input, { ...init, ...body, redirect: 'error', dispatcher: agent })
    if (answer.status !== 400 && answer.status !== 422) {
      forms.keep(originOf(input), form)
      return isStream(answer) && init.signal ? watched(answer, init.signal) : answer
    }
    const next = formAfterRefusal(form, answer.status, await answer.clone().text())
    if (!next) return answer
    await answer.body?.cancel()
    return send(input, init, next)
  }

  function watched(answer: Response, signal: AbortSignal): Response {
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        received(signal)
        controller.enqueue(chunk)
      },
    })
    return answer.body ? new Response(answer.body.pipeThrough(watch), answer) : answer
  }

  return (input: RequestInfo, init: RequestInit): Promise<Response> => send(input, init, forms.of(originOf(input)))
}

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

const originOf = (input: RequestInfo): string =>
  new URL(typeof input === 'string' || input instanceof URL ? input : input.url).origin

/** A request for chat completions in this form. Others have none of its fields but Anthropic's `max_tokens`, which has no other name. */
function inForm(body: string, { bound, streamOptions }: RequestForm): string {
  if (bound === 'max_tokens' && streamOptions) return body
  const sent: unknown = JSON.parse(body)
  if (typeof sent !== 'object' || sent === null || !('max_tokens' in sent)) return body
  const { max_tokens: most, ...rest } = sent
  return JSON.stringify({ ...rest, [bound]: most, ...(!streamOptions && { stream_options: undefined }) })
}
