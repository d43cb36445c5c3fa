import { content, type Refusal } from './content.ts'
import { sessionEnded, sessionUsed } from './session.ts'
import { believed } from './wire.ts'

/** A request that was refused, or that did not get through (`status` 0). */
export class ApiError extends Error {
  readonly status: number
  readonly refusal: Partial<Refusal>
  /** What is there now, where a change came too late. */
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
  /** Of something new: the same for every try, so that it is made once. */
  readonly key?: string
}

let unused: typeof content | undefined = content

/** What an address answers as JSON; for the page's own address, what came with the page. Throws ApiError. */
export async function read<Data>(address: string, signal?: AbortSignal): Promise<Data> {
  if (unused?.error) throw new ApiError(unused.status, unused.error)
  if (unused?.address === address) return believed<Data>(unused.data)
  return request<Data>(address, () => ({ headers: {}, ...(signal && { signal }) }))
}

/** From now on every address is asked for again: what came with the page was its first state. */
export function forgetContent(): void {
  unused = undefined
}

/**
 * Sends a change. Where the session has ended, waits until the person has signed in again and sends it once more, so
 * that nothing typed is lost. Throws ApiError.
 */
export function change<Data>(address: string, { method, body, version, key }: Change): Promise<Data> {
  return request<Data>(address, () => ({
    method,
    signal: AbortSignal.timeout(patience),
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(version !== undefined && { 'if-match': `"${version}"` }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    ...(body && { body: JSON.stringify(body) }),
  }))
}

/** ms without an answer after which a change counts as lost. */
const patience = 60_000

/** Why something failed, in a sentence for a person. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong on this page. Load it again.'
}

type Options = Omit<RequestInit, 'headers'> & { readonly headers: Readonly<Record<string, string>> }

/** Asks with `options()`, and once more after signing in again where that is needed. */
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
 * Whoever signs in in another tab has its cookie sent from here too: the server is told whom this page is for, and then
 * takes them for nobody.
 */
const standing = {
  accept: 'application/json',
  ...(content.viewer && { 'tollgate-person': content.viewer.person.id }),
}

async function send(address: string, options: Options): Promise<{ status: number; ok: boolean; text: string }> {
  try {
    const response = await fetch(address, { ...options, headers: { ...options.headers, ...standing } })
    return { status: response.status, ok: response.ok, text: await response.text() }
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new ApiError(0, {})
  }
}

/** Something between here and the server may have answered in its place. */
function refusalIn(text: string): { error: Partial<Refusal>; current?: unknown } {
  try {
    return believed(JSON.parse(text))
  } catch {
    return { error: { reason: 'The server does not answer as it should. Try again in a moment.' } }
  }
}
