import type { RouteOptions } from 'fastify'
import { Problem } from '../problems.ts'

declare module 'fastify' {
  interface FastifyInstance {
    jsonOnlyUrls: JsonOnlyUrls
  }
}

interface RouteEntry {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

/** Refuses a method that no route of the URL accepts. `allow` is for the Allow header (RFC 9110 section 15.5.6). */
export class MethodNotAllowed extends Problem {
  readonly allow: string

  constructor(methods: readonly string[]) {
    const allow = methods.join(', ')
    super('method_not_allowed', `This URL accepts ${allow} only.`)
    this.allow = allow
  }
}

/** Records the URLs and methods of all routes, to distinguish a wrong method from a wrong URL. */
export function createRouteTable() {
  const entries = new Map<string, RouteEntry>()

  return {
    add(route: Pick<RouteOptions, 'url' | 'method'>): void {
      const entry = entries.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set<string>() }
      entries.set(route.url, entry)
      for (const method of [route.method].flat()) entry.methods.add(method)
    },
    /** Why no route serves the request: `method_not_allowed` or `not_found`. `hint` names the URL that was probably meant. */
    problemFor(method: string, url: string, hint = '/docs lists the URLs.'): Problem {
      const [path = ''] = url.split('?', 1)
      const methods = [...entries.values()]
        .filter(({ pattern }) => pattern.test(path))
        .flatMap((entry) => [...entry.methods])
      if (methods.length === 0 || methods.includes(method)) {
        return new Problem('not_found', `Nothing exists at this URL. ${hint}`)
      }
      return new MethodNotAllowed([...new Set(methods)].toSorted())
    },
  }
}

/** A parameter (`:id`) matches one segment; a wildcard matches the rest. */
function patternOf(route: string): RegExp {
  const segments = route.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+'
    return segment === '*' ? '.*' : RegExp.escape(segment)
  })
  return new RegExp(`^${segments.join('/')}$`)
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
