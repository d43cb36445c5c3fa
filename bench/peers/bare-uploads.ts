import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import fastify from 'fastify'
import { Client } from 'pg'

/**
 * The least that receiving a file costs: `/database` inserts it in rows of 512 KiB, `/folder` writes a file for each 512 KiB, each durable
 * before the next one, `/stream` writes the stream to one file and flushes it once at the end, and `/nowhere` discards it. The arguments are the port, a folder and the address of a database.
 */
const [, , port = '', folder = '', database = ''] = process.argv

const client = new Client({ connectionString: database })
await client.connect()
await client.query('create table received (n bigint generated always as identity primary key, data bytea not null)')
await client.query('alter table received alter column data set storage external')

const server = fastify({ bodyLimit: Number.MAX_SAFE_INTEGER })
server.removeAllContentTypeParsers()
server.addContentTypeParser('*', (_request, body, done) => done(null, body))

server.get('/readyz', async () => 'ready')

server.post<{ Body: Readable }>('/nowhere', async ({ body }) => {
  for await (const _ of body);
  return 'done'
})

server.post<{ Body: Readable }>('/stream', async ({ body }) => {
  const file = await open(join(folder, 'received'), 'w')
  for await (const part of body as AsyncIterable<Buffer>) await file.write(part)
  await file.sync()
  await file.close()
  return 'done'
})

async function* inParts(body: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const part of body as AsyncIterable<Buffer>) {
    parts.push(part)
    length += part.length
    if (length < 512 * 1024) continue
    yield Buffer.concat(parts)
    parts = []
    length = 0
  }
  if (length > 0) yield Buffer.concat(parts)
}

server.post<{ Body: Readable }>('/database', async ({ body }) => {
  for await (const part of inParts(body)) {
    await client.query({ name: 'insert', text: 'insert into received (data) values ($1)', values: [part] })
  }
  return 'done'
})

let files = 0
server.post<{ Body: Readable }>('/folder', async ({ body }) => {
  for await (const part of inParts(body)) {
    const file = await open(join(folder, `${files++}`), 'w')
    await file.write(part)
    await file.sync()
    await file.close()
  }
  return 'done'
})

await server.listen({ port: Number(port), host: '127.0.0.1' })
