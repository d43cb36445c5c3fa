import { text as textOf } from 'node:stream/consumers'
import { problemBody } from '../../platform/http/errors.ts'
import { Problem, problems } from '../../platform/problems.ts'
import { anthropicMessages } from '../dialects/anthropic/anthropic-messages.ts'
import type { Dialect, Permissions, WireFormat } from '../dialects/dialect.ts'
import { readEmbeddingsRequest } from '../dialects/embeddings/openai-embeddings.ts'
import { openAiChat } from '../dialects/openai-chat/openai-chat.ts'
import { openAiResponses } from '../dialects/openai-responses/openai-responses.ts'
import { openAiFormat } from '../dialects/openai.ts'
import type { ImageFetcher } from '../files/image-fetcher.ts'
import type { Generation, Reply } from '../generation.ts'
import type { Job, TextRequest } from '../request.ts'
import { refuseLargeText } from './text-size.ts'

export { isFields, type Fields } from '../dialects/body.ts'

/** The calls that a batch can have. */
export const queuedUrls = ['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/messages'] as const
export type QueuedUrl = (typeof queuedUrls)[number]

/** A call that was parsed, to be made later. */
export interface QueuedCall {
  readonly request: TextRequest
  /** Makes the call as a request to its URL does. Resolves with the body of the response. Throws a Problem. */
  make(job: Job): Promise<{ readonly reply: Reply; readonly body: string }>
}

/** Calls that are made without a connection: those of batches. They are read, refused and answered as requests to their URLs. */
export interface QueuedCalls {
  /** Parses a body of so many bytes at most. Throws a Problem for its first fault. */
  read(url: QueuedUrl, body: unknown, most: number): QueuedCall
  /** The status and the body of the response to a call that was refused or failed. */
  refusal(url: QueuedUrl, problem: Problem, requestId: string): { readonly status: number; readonly body: object }
}

interface QueuedCallsNeeds {
  readonly generation: Generation
  readonly permitted: Permissions
  readonly images: Pick<ImageFetcher, 'check'>
  readonly requestBytes: number
  readonly baseUrl: string
}

const dialects: Readonly<Record<Exclude<QueuedUrl, '/v1/embeddings'>, Dialect>> = {
  '/v1/chat/completions': openAiChat,
  '/v1/responses': openAiResponses,
  '/v1/messages': anthropicMessages,
}

export function createQueuedCalls(needs: QueuedCallsNeeds): QueuedCalls {
  const { generation, permitted, images, requestBytes, baseUrl } = needs

  function readEmbeddings(body: unknown): QueuedCall {
    const { request, body: write } = readEmbeddingsRequest(body)
    return {
      request,
      async make(job) {
        const made = await generation.embed(job)
        const written = write(made)
        return { reply: made.reply, body: typeof written === 'string' ? written : await textOf(written) }
      },
    }
  }

  return Object.freeze<QueuedCalls>({
    read(url, body, most) {
      const bytes = most <= requestBytes ? most : Buffer.byteLength(JSON.stringify(body))
      if (url === '/v1/embeddings') {
        if (bytes > requestBytes) throw tooLarge(requestBytes)
        return readEmbeddings(body)
      }
      const parsed = dialects[url].read(body, permitted)
      const { request } = parsed
      images.check(request.prompt)
      refuseLargeText(bytes, request.prompt, requestBytes)
      if (request.stream) throw streamed()
      return {
        request,
        async make(job) {
          const reply = await generation.generate(job)
          return { reply, body: parsed.wholeBody(reply) }
        },
      }
    },
    refusal(url, problem, requestId) {
      const { status } = problems[problem.code]
      const { error } = problemBody(baseUrl, problem, requestId)
      return { status, body: formatOf(url).errorBody(error, status) }
    },
  })
}

const formatOf = (url: QueuedUrl): WireFormat => (url === '/v1/messages' ? anthropicMessages : openAiFormat)

const tooLarge = (most: number): Problem =>
  new Problem('request_too_large', `The body is larger than ${most} bytes. Send less at a time.`)

const streamed = (): Problem =>
  new Problem('invalid_field', 'The field stream must be omitted: a batch has whole replies only.', { field: 'stream' })
