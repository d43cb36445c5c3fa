import fastify from 'fastify'
import { Pool } from 'undici'

/**
 * The upper bound: Fastify and undici in front of an upstream, and nothing else. Passes bodies on as bytes, without parsing
 * them. Arguments: the port and the URL of the upstream.
 */
const [port, upstream = ''] = process.argv.slice(2)
const { origin, pathname } = new URL(upstream)
const pool = new Pool(origin, { connections: 512, pipelining: 1 })
const app = fastify()
app.removeAllContentTypeParsers()
app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => done(null, body))

app.get('/', () => 'ready')
app.post<{ Body: Buffer }>('/v1/chat/completions', async (request, reply) => {
  const headers = { 'content-type': 'application/json', authorization: request.headers.authorization }
  const path = `${pathname}/chat/completions`
  const response = await pool.request({ method: 'POST', path, headers, body: request.body })
  const type = response.headers['content-type']
  reply.code(response.statusCode).header('content-type', type)
  return type === 'application/json' ? Buffer.from(await response.body.arrayBuffer()) : response.body
})

await app.listen({ host: '127.0.0.1', port: Number(port) })
