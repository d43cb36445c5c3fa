import type { ServerResponse } from 'node:http'
import { parseObject } from './json.ts'
import { serve } from './server.ts'

/** A vendor stand-in that speaks OpenAI's `POST /v1/embeddings` over a socket. */
export interface EmbeddingVendor {
  readonly url: string
  readonly calls: readonly Readonly<Record<string, unknown>>[]
  /** Makes the next answers. A text is sent as it is. Default: `[n, 0.5, -0.25]` for the text of place n, and 9 tokens. */
  answer: (body: Readonly<Record<string, unknown>>) => { readonly status: number; readonly body: unknown } | 'nothing'
  /** Answers the requests that got nothing so far, and later ones, with embeddings. */
  release(): void
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
  const unanswered: { readonly response: ServerResponse; readonly body: Readonly<Record<string, unknown>> }[] = []
  const server = await serve((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    request.on('end', () => {
      if (request.url !== '/v1/embeddings') return void response.writeHead(404).end()
      const body = parseObject(text)
      calls.push(body)
      const answer = vendor.answer(body)
      if (answer === 'nothing') return void unanswered.push({ response, body })
      send(response, answer)
    })
  })
  const vendor: EmbeddingVendor = {
    ...server,
    url: `${server.url}/v1`,
    calls,
    answer: embeddingsOf,
    release() {
      vendor.answer = embeddingsOf
      for (const { response, body } of unanswered.splice(0)) send(response, embeddingsOf(body))
    },
  }
  return vendor
}

function send(response: ServerResponse, { status, body }: { readonly status: number; readonly body: unknown }): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json' }).end(text)
}
