import type { CustomFetch } from 'openid-client'

/** The most that a provider's answer may have; real ones have a few KiB. */
const mostBytes = 512 * 1024
/** ms for everything that one request of ours asks of a provider, one thing after the other. */
const patience = 4000

/** What is asked of a provider on behalf of one request: bounded in time, all together, and in size, each. */
export interface Exchange {
  readonly fetch: CustomFetch
  /** Whether anything was asked yet. */
  readonly begun: boolean
  /** Waits for work on behalf of the same request, no longer than until the same moment. */
  within<T>(this: void, work: Promise<T>): Promise<T>
}

export function createExchange(): Exchange {
  const deadline = AbortSignal.timeout(patience)
  const late = Promise.withResolvers<never>()
  late.promise.catch(() => undefined)
  deadline.addEventListener('abort', () => late.reject(deadline.reason), { once: true })
  let begun = false
  return {
    within: (work) => Promise.race([work, late.promise]),
    get begun() {
      return begun
    },
    async fetch(url, { body, headers, method }) {
      begun = true
      const response = await fetch(url, { body: body ?? null, headers, method, redirect: 'manual', signal: deadline })
      return new Response(await readBounded(response), { status: response.status, headers: response.headers })
    },
  }
}

/** Null for an answer that has no body. Throws when it has more than it may. */
async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  const body: ReadableStream<Uint8Array> | null = response.body
  if (body === null) return null
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    // Leaving the loop cancels the rest.
    if (bytes > mostBytes) throw new Error(`the provider's answer is larger than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return new Uint8Array(Buffer.concat(chunks))
}
