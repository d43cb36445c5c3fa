import type { Service } from './service.ts'

/** Every route of a server, such as `GET /clients/:client`, read from the router's table. */
export function routesOf({ app }: Pick<Service, 'app'>): string[] {
  const trail: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', segment = '', methods = ''] = /^([│├└─ ]*)(\S+) \(([A-Z, ]+)\)/.exec(line) ?? []
      if (segment === '') return []
      // Each level is indented by four characters; the first is the root.
      const depth = indent.length / 4 - 1
      trail.splice(depth, Infinity, segment)
      const path = trail.join('').replaceAll('//', '/')
      return methods.split(', ').map((method) => `${method} ${path}`)
    })
}
