import { betterAuth } from 'better-auth'
import { getMigrations } from 'better-auth/db/migration'
import { fromNodeHeaders } from 'better-auth/node'
import fastify from 'fastify'
import pg from 'pg'

/**
 * A handler that asks better-auth for the session, then runs one prepared SELECT by the id in the path. Its tables are in
 * their own schema. Arguments: the port, the URL of the database, and the SELECT.
 */
const [port, url = '', select = ''] = process.argv.slice(2)
const people = 20
const schema = 'better_auth'
const pool = new pg.Pool({ connectionString: url, max: 10 })
const options = {
  baseURL: `http://127.0.0.1:${port}`,
  secret: 'a secret that only this benchmark knows, 32 or more',
  database: new pg.Pool({ connectionString: url, max: 10, options: `-c search_path=${schema}` }),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
}

await pool.query(`drop schema if exists ${schema} cascade; create schema ${schema}`)
await (await getMigrations(options)).runMigrations()
const auth = betterAuth(options)
const cookies = await Promise.all(
  Array.from({ length: people }, async (_, n) => {
    const body = { name: `Person ${n}`, email: `person${n}@firm.example`, password: 'a long enough password' }
    const response = await auth.api.signUpEmail({ body, asResponse: true })
    return response.headers
      .getSetCookie()
      .map((cookie) => cookie.split(';')[0])
      .join('; ')
  }),
)

const app = fastify()
app.get('/', () => 'ready')
app.get('/cookies', () => cookies)
app.get('/clients/:id', async (request, reply) => {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(request.headers) })
  if (!session) return reply.code(401).send()
  const { rows } = await pool.query({ name: 'record', text: select, values: [request.params.id] })
  return rows[0]
})

await app.listen({ host: '127.0.0.1', port: Number(port) })
