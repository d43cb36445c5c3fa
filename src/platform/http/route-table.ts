import type { RouteOptions } from 'fastify'
import { Problem } from '../problems.ts'

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
