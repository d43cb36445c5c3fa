declare module 'fastify' {
  interface FastifyInstance {
    jsonOnlyUrls: JsonOnlyUrls
  }
}

/**
 * The URLs without pages, by their first path segment. Each module that serves such URLs adds its own. Every other URL
 * has two representations, a page and JSON, even if no route serves it.
 */
export interface JsonOnlyUrls {
  /** `segment` with its slash: `/docs`. With `noStore`, no response below it may be cached. */
  add(this: void, segment: string, options?: { readonly noStore?: boolean }): void
  has(this: void, url: string): boolean
  /** Whether responses to this URL carry `Cache-Control: no-store`; undefined for a URL with a page. */
  forbidsStoring(this: void, url: string): boolean | undefined
}

export function createJsonOnlyUrls(): JsonOnlyUrls {
  const noStoreBySegment = new Map<string, boolean>()
  return Object.freeze<JsonOnlyUrls>({
    add: (segment: string, { noStore = false } = {}) => void noStoreBySegment.set(segment, noStore),
    has: (url) => noStoreBySegment.has(firstSegment(url)),
    forbidsStoring: (url) => noStoreBySegment.get(firstSegment(url)),
  })
}

function firstSegment(url: string): string {
  const end = url.slice(1).search(/[/?#]/)
  return end === -1 ? url : url.slice(0, end + 1)
}
