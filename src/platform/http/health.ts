import type { Server } from './server.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Makes `/readyz` return 503 from now on, so that proxies send no more requests. Everything is still served. */
    leave: () => void
  }
}

export interface HealthNeeds {
  /** The version in `/healthz`. */
  readonly version: string
  /** Whether the database accepts writes. */
  readonly databaseWritable: () => Promise<boolean>
  /** The state of each model. */
  readonly models: () => Readonly<Record<string, boolean>>
  /** The state of each sign-in provider; none of them makes the instance unready. */
  readonly providers: () => Readonly<Record<string, string>>
}

/**
 * `/healthz` returns 200 while the process runs. `/readyz` returns 200 when this instance can serve: the database
 * accepts writes, and a model is ready or none is configured; otherwise 503. An instance with one model of several down
 * stays ready, and refuses the requests for that model.
 */
export function registerHealth(server: Server, { version, databaseWritable, models, providers }: HealthNeeds): void {
  server.jsonOnlyUrls.add('/healthz')
  server.jsonOnlyUrls.add('/readyz')
  let isLeaving = false
  server.decorate('leave', () => void (isLeaving = true))
  server.get('/healthz', { config: { whileDraining: true, routine: true }, schema: { hide: true } }, async () => ({
    status: 'ok',
    version,
  }))

  server.get('/readyz', { config: { routine: true }, schema: { hide: true } }, async (_request, reply) => {
    const standing = { models: models(), ...(Object.keys(providers()).length > 0 && { providers: providers() }) }
    const checks = { database: await databaseWritable(), ...standing }
    const states = Object.values(checks.models)
    const ready = !isLeaving && checks.database && (states.length === 0 || states.includes(true))
    reply.code(ready ? 200 : 503).header('cache-control', 'no-store')
    if (!ready) reply.header('retry-after', '1')
    return { ready, ...(isLeaving && { stopping: true }), checks }
  })
}
