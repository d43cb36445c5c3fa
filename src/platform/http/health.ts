import type { Database } from '../database/database.ts'
import type { Server } from './http.ts'

export interface HealthNeeds {
  readonly database: Pick<Database, 'rows'>
  /** What there is to be ready besides the database, by name. */
  readonly models: () => Readonly<Record<string, boolean>>
  /** The providers to sign in with, and how they stand: none of them keeps the instance from serving. */
  readonly providers: () => Readonly<Record<string, string>>
}

/** Milliseconds that the database gets to answer. */
const patience = 2000

/**
 * /healthz: the process runs, always 200. /readyz: this instance can serve, 200 when the database answers and one of
 * the models is ready (or none is configured), else 503. One model of several that is down takes no instance out: its
 * own requests are refused.
 */
export function registerHealth(server: Server, { database, models, providers }: HealthNeeds): void {
  server.get('/healthz', { config: { whileDraining: true }, schema: { hide: true } }, async () => ({ status: 'ok' }))

  server.get('/readyz', { schema: { hide: true } }, async (_request, reply) => {
    const standing = { models: models(), ...(Object.keys(providers()).length > 0 && { providers: providers() }) }
    const checks = { database: await answersInTime(database), ...standing }
    const states = Object.values(checks.models)
    const ready = checks.database && (states.length === 0 || states.includes(true))
    reply.code(ready ? 200 : 503).header('cache-control', 'no-store')
    if (!ready) reply.header('retry-after', '1')
    return { ready, checks }
  })
}

async function answersInTime(database: HealthNeeds['database']): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), patience)
  const asked = database.rows('select 1').then(
    () => true,
    () => false,
  )
  const answered = await Promise.race([asked, late.promise])
  clearTimeout(timer)
  return answered
}
