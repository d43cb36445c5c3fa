import type { CustomFetch } from 'openid-client'

/** The largest response accepted from a provider, in bytes. Real ones have a few KiB. */
const maxBytes = 512 * 1024
/** The time limit for all provider calls of one request together, in ms. */
const patience = 4000

/** The provider calls made on behalf of one request, with a common deadline and a size limit per response. */
export interface Exchange {
  readonly fetch: CustomFetch
  /** Whether a call has been made. */
  readonly begun: boolean
  /** Resolves with the work, or rejects at the deadline. */
  within<T>(this: void, work: Promise<T>): Promise<T>
}

export function createExchange(): Exchange {
  const deadline = new AbortController()
  const late = Promise.withResolvers<never>()
  late.promise.catch(() => undefined)
  setTimeout(() => {
    const reason = new Error('the provider took too long')
    deadline.abort(reason)
    late.reject(reason)
  }, patience).unref()
  let begun = false
  return {
    within: (work) => Promise.race([work, late.promise]),
    get begun() {
      return begun
    },
    async fetch(url, { body, headers, method }) {
      begun = true
      const response = await fetch(url, {
        body: body ?? null,
        headers,
        method,
        redirect: 'manual',
        signal: deadline.signal,
      })
      return new Response(await readBounded(response), { status: response.status, headers: response.headers })
    },
  }
}

/** Null for a response without a body. Throws if the body exceeds the limit. */
async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  const body: ReadableStream<Uint8Array> | null = response.body
  if (body === null) return null
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    // Leaving the loop cancels the stream.
    if (bytes > maxBytes) throw new Error(`the provider's response exceeds ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
