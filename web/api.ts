import { content, type Refusal } from './content.ts'
import { sessionEnded, sessionUsed } from './session.ts'
import { believed } from './wire.ts'

/** A refused request, or a request without a response (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly refusal: Partial<Refusal>
  /** The current state of the record, after a conflict. */
  readonly current: unknown

  constructor(status: number, refusal: Partial<Refusal>, current?: unknown) {
    super(refusal.reason ?? 'The server cannot be reached. Check the network and try again.')
    this.status = status
    this.refusal = refusal
    this.current = current
  }
}

export interface Change {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly body?: object
  /** The version that the change is based on. */
  readonly version?: number | undefined
  /** The idempotency key of a new record: the same in every retry. */
  readonly key?: string
}

let unused: typeof content | undefined = content

/** Fetches JSON. The data of the page's own URL comes with the page. Throws ApiError. */
export async function read<Data>(address: string, signal?: AbortSignal): Promise<Data> {
  if (unused?.error) throw new ApiError(unused.status, unused.error)
  if (unused?.address === address) return believed<Data>(unused.data)
  return request<Data>(address, () => ({ headers: {}, ...(signal && { signal }) }))
}

/** Discards the data that came with the page, which may be out of date. */
export function forgetContent(): void {
  unused = undefined
}

/**
 * Sends a change. If the session has ended, waits until the person has signed in again and retries, so that nothing typed
 * is lost. Throws ApiError.
 */
export function change<Data>(address: string, { method, body, version, key }: Change): Promise<Data> {
  return request<Data>(address, () => ({
    method,
    signal: AbortSignal.timeout(changeTimeout),
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(version !== undefined && { 'if-match': `"${version}"` }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }))
}

/** The timeout of a change, in ms. */
const changeTimeout = 60_000

/** An error as a sentence for the person. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong on this page. Reload it.'
}

type Options = Omit<RequestInit, 'headers'> & { readonly headers: Readonly<Record<string, string>> }

/** Sends a request, and retries after the person has signed in again if the session had ended. */
async function request<Data>(address: string, options: () => Options): Promise<Data> {
  const { status, ok, text } = await send(address, options())
  if (status === 401) {
    await sessionEnded()
    return request<Data>(address, options)
  }
  if (ok) {
    sessionUsed()
    return believed<Data>(text === '' ? undefined : JSON.parse(text))
  }
  const { error, current } = refusalIn(text)
  throw new ApiError(status, error, current)
}

/**
 * Names the person that this page is for. If someone else signs in in another tab, their cookie is sent from here too; the
 * server then treats the request as not signed in.
 */
const commonHeaders = {
  accept: 'application/json',
  ...(content.viewer && { 'tollgate-person': content.viewer.person.id }),
}

async function send(address: string, options: Options): Promise<{ status: number; ok: boolean; text: string }> {
  try {
    const response = await fetch(address, { ...options, headers: { ...options.headers, ...commonHeaders } })
    return { status: response.status, ok: response.ok, text: await response.text() }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, {})
  }
}

/** A proxy may have sent the response, so it need not be JSON. */
function refusalIn(text: string): { error: Partial<Refusal>; current?: unknown } {
  try {
    return believed(JSON.parse(text))
  } catch {
    return { error: { reason: 'The server sent an invalid response. Try again in a moment.' } }
  }
}
