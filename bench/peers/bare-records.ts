import fastify from 'fastify'
import pg from 'pg'

/**
 * The upper bound: Fastify and one prepared SELECT by the id in the path, without any check. Arguments: the port, the URL
 * of the database, and the SELECT.
 */
const [port, url, select = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: 10 })
const app = fastify()

app.get('/', () => 'ready')
app.get<{ Params: { id: string } }>('/clients/:id', async (request) => {
  const { rows } = await pool.query<object>({ name: 'record', text: select, values: [request.params.id] })
  return rows[0]
})

await app.listen({ host: '127.0.0.1', port: Number(port) })
