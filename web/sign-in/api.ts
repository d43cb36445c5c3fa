import type { Refusal } from '../content.ts'
import { believed } from '../wire.ts'

/** A refused request, or a request without a response. The message is for the person. */
export class Refused extends Error {
  readonly code: string | undefined
  /** The name of the field at fault. */
  readonly field: string | undefined
  /** When the same request may succeed, in ms since 1970. */
  readonly retryAt: number | undefined

  constructor(
    reason: string,
    { code, field, retryAfter }: { code?: string; field?: string; retryAfter?: number } = {},
  ) {
    super(reason)
    this.code = code
    this.field = field?.split('.').at(-1)
    this.retryAt = retryAfter === undefined ? undefined : Date.now() + retryAfter * 1000
  }
}

/** In ms. */
const timeout = 60_000

/** Sends a step of the sign-in. Throws Refused. */
export async function post<Data>(address: string, body: object): Promise<Data> {
  const response = await send(address, body)
  const text = await response.text().catch(() => '')
  if (response.ok && text !== '') return believed<Data>(JSON.parse(text))
  throw refusedBy(response, text)
}

/** What the server responds to a look at a URL; undefined if it refuses. */
export async function look<Data>(address: string): Promise<Data | undefined> {
  const response = await fetch(address, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeout),
  }).catch(() => undefined)
  return response?.ok ? believed<Data>(await response.json()) : undefined
}

async function send(address: string, body: object): Promise<Response> {
  try {
    return await fetch(address, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeout),
    })
  } catch {
    throw new Refused('The server cannot be reached. Check the network and try again.')
  }
}

/** A proxy may have sent the response, so it need not be JSON. */
function refusedBy({ headers }: Response, text: string): Refused {
  const retryAfter = Number(headers.get('retry-after') ?? Number.NaN)
  const wait = Number.isFinite(retryAfter) ? { retryAfter } : {}
  try {
    const { error } = believed<{ error: Refusal }>(JSON.parse(text))
    return new Refused(error.reason, { ...error, ...wait })
  } catch {
    return new Refused('The server sent an invalid response. Try again in a moment.', wait)
  }
}

/** Goes on to another page. The current one stays busy until then. */
export function leaveFor(address: string): Promise<never> {
  location.assign(address)
  return new Promise(() => undefined)
}
