import { content, type Refusal } from './content.ts'
import { identityConfirmed } from './identity.ts'
import { reasonText } from './locale.ts'
import { sessionEnded, sessionUsed } from './session.ts'
import { believed } from './wire.ts'

/** A refused request, or a request without a response (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly refusal: Partial<Refusal>
  /** The current state of the record, after a conflict. */
  readonly current: unknown
  /** The seconds to wait before trying again, if the server says. */
  readonly retryAfter: number | undefined

  constructor(status: number, refusal: Partial<Refusal>, current?: unknown, retryAfter?: number) {
    super(refusal.reason ?? 'The server cannot be reached. Check the network and try again.')
    this.status = status
    this.refusal = refusal
    this.current = current
    this.retryAfter = retryAfter
  }

  /** The reason as it is shown below a field, whose label says what the API's name for it would. */
  get reasonAtField(): string {
    return this.message.replace(/^The field \S+ (?:is )?(.)/, (_, first: string) => first.toUpperCase())
  }
}

export interface Change {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  readonly body?: object
  /** The version that the change is based on. */
  readonly version?: number | undefined
  /** The idempotency key of a new record: the same in every retry. */
  readonly key?: string
  /** Whether the request goes on after the page has ended. Browsers do that for short ones only. */
  readonly outlivesPage?: boolean
}

/** Bytes that browsers send for a page that has ended, less those of the headers. */
const mostAfterPage = 60_000

let unused: typeof content | undefined = content

/** Fetches JSON. The data of the page's own URL, `shownAt`, comes with the page. Throws ApiError. */
export async function read<Data>(address: string, signal?: AbortSignal, shownAt = address): Promise<Data> {
  if (unused?.error) throw new ApiError(unused.status, unused.error)
  if (unused?.address === shownAt) return believed<Data>(unused.data)
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
export function change<Data>(
  address: string,
  { method, body, version, key, outlivesPage = false }: Change,
): Promise<Data> {
  const text = body && JSON.stringify(body)
  const keepalive = outlivesPage && new Blob([text ?? '']).size < mostAfterPage
  return request<Data>(address, () => ({
    method,
    ...(keepalive && { keepalive }),
    signal: AbortSignal.timeout(changeTimeout),
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(version !== undefined && { 'if-match': `"${version}"` }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(text !== undefined && { body: text }),
  }))
}

interface SentBytes {
  readonly method: 'POST' | 'PATCH'
  readonly bytes: Blob
  readonly headers: Readonly<Record<string, string>>
}

/** Sends bytes as they are. Retries after the person has signed in again if the session had ended. Throws ApiError. */
export function sendBytes<Data>(address: string, { method, bytes, headers }: SentBytes): Promise<Data> {
  return request<Data>(address, () => ({
    method,
    signal: AbortSignal.timeout(changeTimeout),
    headers: { 'content-type': 'application/octet-stream', ...headers },
    body: bytes,
  }))
}

/** Fetches a file. Throws ApiError. */
export async function readBytes(address: string, signal: AbortSignal): Promise<Blob> {
  const response = await fetched(address, { headers: { accept: '*/*' }, signal })
  if (response.status === 401) {
    await sessionEnded()
    return readBytes(address, signal)
  }
  if (!response.ok) throw refused(response.status, response.headers, await textOf(response))
  const file = await orLost(response.blob())
  sessionUsed()
  return file
}

/** The timeout of a change, in ms. */
const changeTimeout = 60_000

/** An error as a sentence for the person. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong on this page. Reload it.'
}

/**
 * Sends a request whose response is a stream of events, and returns the stream once it begins. Retries after the person
 * has signed in again if the session had ended. Throws ApiError.
 */
export async function openStream(address: string, body: object): Promise<ReadableStream<Uint8Array>> {
  const response = await fetched(address, {
    method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status === 401) {
    await sessionEnded()
    return openStream(address, body)
  }
  if (!response.ok) throw refused(response.status, response.headers, await textOf(response))
  if (!response.body) throw new ApiError(0, {})
  sessionUsed()
  return response.body
}

/** Fetches a file and saves it under the name that the server gives. Throws ApiError, even for a file that arrives incomplete. */
export async function download(address: string): Promise<void> {
  const response = await fetched(address, { headers: { accept: '*/*' } })
  if (response.status === 401) {
    await sessionEnded()
    return download(address)
  }
  if (!response.ok) {
    const error = refused(response.status, response.headers, await textOf(response))
    if (await isWorthRetrying(error)) return download(address)
    throw error
  }
  const file = URL.createObjectURL(await orLost(response.blob()))
  sessionUsed()
  const [, name = ''] = /filename\*=UTF-8''([^;]+)/.exec(response.headers.get('content-disposition') ?? '') ?? []
  Object.assign(document.createElement('a'), { href: file, download: decodeURIComponent(name) }).click()
  // The browser has begun to save it by then.
  setTimeout(() => URL.revokeObjectURL(file), 60_000)
}

type Options = Omit<RequestInit, 'headers'> & { readonly headers: Readonly<Record<string, string>> }

/** Sends a request, and retries after the person has signed in again, or confirmed who they are, if that was missing. */
async function request<Data>(address: string, options: () => Options): Promise<Data> {
  const response = await fetched(address, options())
  const text = await textOf(response)
  if (response.status === 401) {
    await sessionEnded()
    return request<Data>(address, options)
  }
  if (!response.ok) {
    const error = refused(response.status, response.headers, text)
    if (await isWorthRetrying(error)) return request<Data>(address, options)
    throw error
  }
  sessionUsed()
  return believed<Data>(text === '' ? undefined : JSON.parse(text))
}

/** Whether a proof of who the person is was missing, and they have given it since. */
async function isWorthRetrying({ refusal }: ApiError): Promise<boolean> {
  return refusal.code === 'recent_sign_in_required' && identityConfirmed()
}

/**
 * Names the person that this page is for. If someone else signs in in another tab, their cookie is sent from here too; the
 * server then treats the request as not signed in.
 */
const personHeader = { ...(content.viewer && { 'tollgate-person': content.viewer.person.id }) }

function fetched(address: string, options: Options): Promise<Response> {
  const headers = { accept: 'application/json', ...options.headers, ...personHeader }
  return orLost(fetch(address, { ...options, headers }))
}

const textOf = (response: Response) => orLost(response.text())

/** Throws ApiError with status 0 if the connection is lost. */
async function orLost<Data>(work: Promise<Data>): Promise<Data> {
  try {
    return await work
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, {})
  }
}

function refused(status: number, headers: Headers, text: string): ApiError {
  const { error, current } = refusalIn(text)
  const wait = Number(headers.get('retry-after') ?? Number.NaN)
  const shown = error.reason === undefined ? error : { ...error, reason: reasonText(error.reason) }
  return new ApiError(status, shown, current, Number.isFinite(wait) ? wait : undefined)
}

/** A proxy may have sent the response, so it need not be JSON. */
function refusalIn(text: string): { error: Partial<Refusal>; current?: unknown } {
  try {
    return believed(JSON.parse(text))
  } catch {
    return { error: { reason: 'The server sent an invalid response. Try again in a moment.' } }
  }
}
