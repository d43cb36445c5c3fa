import { text as textOf } from 'node:stream/consumers'
import type { Replay } from '../../billing/till/till.ts'
import { problemBody } from '../../platform/http/errors.ts'
import { Problem, problems } from '../../platform/problems.ts'
import { anthropicMessages } from '../dialects/anthropic/anthropic-messages.ts'
import type { Dialect, Permissions, WireFormat } from '../dialects/dialect.ts'
import { readEmbeddingsRequest } from '../dialects/embeddings/openai-embeddings.ts'
import { openAiChat } from '../dialects/openai-chat/openai-chat.ts'
import { openAiResponses } from '../dialects/openai-responses/openai-responses.ts'
import { openAiFormat } from '../dialects/openai.ts'
import type { ImageFetcher } from '../files/image-fetcher.ts'
import type { Generation } from '../generation.ts'
import { replayedReply, type Reply } from '../reply.ts'
import type { Job, TextRequest } from '../request.ts'
import { refuseLargeText } from './text-size.ts'

export { isFields, type Fields } from '../dialects/body.ts'

/** The calls that a batch can have. */
export const queuedUrls = ['/v1/chat/completions', '/v1/responses', '/v1/embeddings', '/v1/messages'] as const
export type QueuedUrl = (typeof queuedUrls)[number]

/** A call that was parsed, to be made later. */
export interface QueuedCall {
  readonly request: TextRequest
  /** Makes the call as a request to its URL does. Throws a Problem. */
  make(job: Job): Promise<MadeCall>
}

/** A charged reply, with the body of the response. */
interface MadeCall {
  readonly reply: Reply
  readonly body: string
}

interface ParsedCall {
  readonly request: TextRequest
  readonly generate: (job: Job) => Promise<Reply>
  readonly write: (reply: Reply) => Promise<MadeCall>
}

/** Calls that are made without a connection: those of batches. They are read, refused and answered as requests to their URLs. */
export interface QueuedCalls {
  /** Parses a body of so many bytes at most. Throws a Problem for its first fault. */
  read(url: QueuedUrl, body: unknown, most: number): QueuedCall
  /** What a call with this body has made, from the reply that the till has stored. Throws a Problem if the body cannot be parsed. */
  replay(url: QueuedUrl, body: unknown, stored: Replay): Promise<MadeCall>
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

  function parse(url: QueuedUrl, body: unknown): ParsedCall {
    if (url === '/v1/embeddings') {
      const { request, body: write } = readEmbeddingsRequest(body)
      return {
        request,
        generate: async (job) => (await generation.embed(job)).reply,
        async write(reply) {
          const text = write({ reply, vectors: reply.vectors ?? [] })
          return { reply, body: typeof text === 'string' ? text : await textOf(text) }
        },
      }
    }
    const parsed = dialects[url].read(body, permitted)
    return {
      request: parsed.request,
      generate: (job) => generation.generate(job),
      write: async (reply) => ({ reply, body: parsed.wholeBody(reply) }),
    }
  }

  return Object.freeze<QueuedCalls>({
    read(url, body, most) {
      const bytes = most <= requestBytes ? most : Buffer.byteLength(JSON.stringify(body))
      if (url === '/v1/embeddings' && bytes > requestBytes) throw tooLarge(requestBytes)
      const { request, generate, write } = parse(url, body)
      images.check(request.prompt)
      refuseLargeText(bytes, request.prompt, requestBytes)
      if (request.stream) throw streamed()
      if (request.prompt.vendorFields?.['service_tier'] !== undefined) throw ofTier()
      return { request, make: async (job) => write(await generate(job)) }
    },
    replay(url, body, stored) {
      const { request, write } = parse(url, body)
      return write(replayedReply(stored, request.model))
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

/** Its reply is charged at the tier of batches, whatever the vendor serves it at. */
const ofTier = (): Problem =>
  new Problem('invalid_field', 'The field service_tier must be omitted: a batch has a service tier of its own.', {
    field: 'service_tier',
  })

const streamed = (): Problem =>
  new Problem('invalid_field', 'The field stream must be omitted: a batch has whole replies only.', { field: 'stream' })
