import type { RouteOptions } from 'fastify'
import { Problem } from '../problems.ts'

interface KnownAddress {
  readonly pattern: RegExp
  readonly methods: Set<string>
}

/** The refusal of a request that no route takes, and what its Allow header says (RFC 9110 section 15.5.6). */
export class MethodNotAllowed extends Problem {
  readonly allow: string

  constructor(methods: readonly string[]) {
    const allow = methods.join(', ')
    super('method_not_allowed', `This address takes ${allow} only.`)
    this.allow = allow
  }
}

/** Remembers the addresses of all routes, so that a wrong method can be told from a wrong address. */
export function createAddresses() {
  const known = new Map<string, KnownAddress>()

  return {
    note(route: Pick<RouteOptions, 'url' | 'method'>): void {
      const address = known.get(route.url) ?? { pattern: patternOf(route.url), methods: new Set<string>() }
      known.set(route.url, address)
      for (const method of [route.method].flat()) address.methods.add(method)
    },
    /** Why no route took the request: another method is wanted, or nothing is at the address. */
    refusal(method: string, url: string): Problem {
      const [path = ''] = url.split('?', 1)
      const methods = [...known.values()]
        .filter(({ pattern }) => pattern.test(path))
        .flatMap((each) => [...each.methods])
      if (methods.length === 0 || methods.includes(method)) {
        return new Problem('not_found', 'Nothing is at this address. The addresses are listed at /docs.')
      }
      return new MethodNotAllowed([...new Set(methods)].toSorted())
    },
  }
}

/** `/clients/:id` → a segment in the place of the parameter; a wildcard stands for the rest. */
function patternOf(route: string): RegExp {
  const segments = route.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+'
    return segment === '*' ? '.*' : RegExp.escape(segment)
  })
  return new RegExp(`^${segments.join('/')}$`)
}
