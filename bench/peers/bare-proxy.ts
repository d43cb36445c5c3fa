import fastify from 'fastify'
import { Pool } from 'undici'

/**
 * Fastify and undici in front of an upstream, and nothing else: an upper bound. Passes bodies on as bytes, without parsing them. With a
 * database, it also keeps a row of each reply and sends the reply when the row is durable: the least that Tollgate's promise costs.
 * Arguments: the port, the URL of the upstream, and perhaps that of the database.
 */
const [port, upstream = '', database] = process.argv.slice(2)
const { origin, pathname } = new URL(upstream)
const pool = new Pool(origin, { connections: 512, pipelining: 1 })
const app = fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))
const append = database === undefined ? undefined : (await import('./durable-rows.ts')).openRows(database)

app.get('/', () => 'ready')
app.post<{ Body: Buffer }>('/v1/chat/completions', async (request, reply) => {
  const headers = { 'content-type': 'application/json', authorization: request.headers.authorization }
  const path = `${pathname}/chat/completions`
  const response = await pool.request({ method: 'POST', path, headers, body: request.body })
  const type = response.headers['content-type']
  reply.code(response.statusCode).header('content-type', type)
  if (type !== 'application/json') return response.body
  const body = Buffer.from(await response.body.arrayBuffer())
  await append?.(headers.authorization ?? '')
  return body
})

await app.listen({ host: '127.0.0.1', port: Number(port) })
