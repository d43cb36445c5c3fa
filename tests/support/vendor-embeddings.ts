import { once } from 'node:events'
import { createServer } from 'node:http'
import { parseObject } from './json.ts'

/** A vendor stand-in that speaks OpenAI's `POST /v1/embeddings` over a socket. */
export interface EmbeddingVendor {
  readonly url: string
  readonly calls: readonly Readonly<Record<string, unknown>>[]
  /** Makes the next answers. Default: `[n, 0.5, -0.25]` for the text of place n, and 9 tokens. */
  answer: (body: Readonly<Record<string, unknown>>) => { readonly status: number; readonly body: unknown } | 'nothing'
  close(): Promise<void>
}

export const embeddingsOf = ({ input }: Readonly<Record<string, unknown>>) => ({
  status: 200,
  body: {
    object: 'list',
    data: (Array.isArray(input) ? input : []).map((_, index) => ({
      object: 'embedding',
      index,
      embedding: [index, 0.5, -0.25],
    })),
    model: 'm',
    usage: { prompt_tokens: 9, total_tokens: 9 },
  },
})

export async function startEmbeddingVendor(): Promise<EmbeddingVendor> {
  const calls: Readonly<Record<string, unknown>>[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      const body = parseObject(text)
      if (request.url !== '/v1/embeddings') return void response.writeHead(404).end()
      calls.push(body)
      const answer = vendor.answer(body)
      if (answer === 'nothing') return
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const vendor: EmbeddingVendor = {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/v1`,
    calls,
    answer: embeddingsOf,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return vendor
}
