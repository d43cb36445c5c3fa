import type { Service } from './service.ts'

/** Every route that a server answers, as `GET /clients/:client`, from the router's own table. */
export function routesOf({ app }: Pick<Service, 'app'>): string[] {
  const trail: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const [, indent = '', segment = '', methods = ''] = /^([│├└─ ]*)(\S+) \(([A-Z, ]+)\)/.exec(line) ?? []
      if (segment === '') return []
      // Four signs of indentation a level; the first is the root.
      const depth = indent.length / 4 - 1
      trail.splice(depth, Infinity, segment)
      const path = trail.join('').replaceAll('//', '/')
      return methods.split(', ').map((method) => `${method} ${path}`)
    })
}
