import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { Problem } from '../../platform/problems.ts'
import type { Capability } from '../capabilities.ts'
import { textOfMessage } from '../conversation.ts'
import { bytesOf } from '../counted.ts'
import type { Embedded, EmbeddingOptions, Model, Prompt, Usage, Vector } from '../model.ts'
import { byteTokenizer } from '../tokenizer/tokenizer.ts'
import { parse, readErrorCode } from './chat-completions.ts'
import { createEndpoint, type Endpoint } from './endpoint.ts'
import { refused, unusable } from './failure.ts'
import type { OpenAiModelOptions } from './openai.ts'
import { createMemberPool } from './pool.ts'

type EmbeddingModelOptions = Omit<OpenAiModelOptions, 'maxOutputTokens' | 'capabilities'>

/** The most bytes of a response: for its envelope and for each vector; `all` bounds their sum. */
const mostBytes = { answer: 256 * 1024, vector: 256 * 1024, all: 128 * 1024 * 1024 }
const mostNumbers = 65_536

const Tokens = Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 }))

/** The fields of a `POST /embeddings` response that are used. Other fields are ignored. */
const answerFields = Compile(
  Type.Object({
    data: Type.Array(
      Type.Object({
        index: Type.Optional(Type.Integer({ minimum: 0 })),
        embedding: Type.Union([
          Type.Array(Type.Number(), { minItems: 1, maxItems: mostNumbers }),
          Type.String({ minLength: 4 }),
        ]),
      }),
    ),
    // Some servers report only the total, which is that of the input.
    usage: Type.Optional(Type.Union([Type.Object({ prompt_tokens: Tokens, total_tokens: Tokens }), Type.Null()])),
  }),
)

/** What an upstream answered. */
interface Answer {
  readonly vectors: readonly Vector[]
  readonly inputTokens: number | undefined
}

/**
 * A model of embeddings behind servers that speak OpenAI's `POST /embeddings`. Endpoints, retries and Problems are those of
 * `createOpenAiModel`. An answer without one vector for each text, all of one length, is `upstream_failed`.
 */
export function createEmbeddingModel(options: EmbeddingModelOptions): Model {
  const { id, upstreamModel, context, timeout, connections = 512, tokenizer = byteTokenizer } = options
  const log = options.log.child({ model: id })
  const endpoints = options.endpoints.map((endpoint) =>
    createEndpoint('/embeddings', endpoint, { connections, connect: timeout.connect }),
  )
  const pause = Math.max(timeout.first_token, 1000)
  const pool = createMemberPool({ members: endpoints, total: timeout.total, pause, log })

  async function embed(prompt: Prompt, how: EmbeddingOptions, signal: AbortSignal): Promise<Embedded> {
    const { dimensions, encoding, requestId } = how
    if (signal.aborted) return { vectors: undefined, usage: usageOf(0, 'estimated') }
    const input = prompt.messages.map(textOfMessage)
    const body = JSON.stringify({ model: upstreamModel, input, dimensions, encoding_format: encoding })
    const bytes = Math.min(mostBytes.all, mostBytes.answer + mostBytes.vector * input.length)
    const ask = async (endpoint: Endpoint, total: number): Promise<Answer | undefined> => {
      const answer = await endpoint.post(body, { first: timeout.first_token, total, mostBytes: bytes, signal })
      if (answer === undefined) return undefined
      const { status, retryAfter, body: received } = answer
      if (status === 200) return readEmbeddings(received, input.length, encoding)
      const text = received.toString()
      const refusal = { status, retryAfter, body: text, origin: endpoint.name, code: readErrorCode(text) }
      throw refused(refusal, { maxOutputTokens: 0, context })
    }
    const answered = (await pool.run(ask, { signal, limits: { requestId } }))?.value
    // No answer: the caller disconnected. The upstream may have read the texts, so they are charged.
    const { vectors, inputTokens } = answered ?? {}
    if (inputTokens !== undefined) return { vectors, usage: usageOf(inputTokens, 'upstream') }
    const estimate = tokenizer.estimateOf(prompt) ?? Math.ceil(bytesOf(prompt) / bytesPerToken)
    return { vectors, usage: usageOf(estimate, 'estimated') }
  }

  return Object.freeze({
    id,
    contextTokens: context,
    maxOutputTokens: 0,
    capabilities: new Set<Capability>(),
    cheapPrompt: tokenizer.cheapPrompt,
    count: tokenizer.count,
    run: () => Promise.reject(noText()),
    // oxlint-disable-next-line require-yield
    async *stream() {
      throw noText()
    },
    embed,
    health: () => pool.health(),
    close: async () => void (await Promise.all([tokenizer, ...endpoints].map((each) => each.close()))),
  })
}

const bytesPerToken = 4

const usageOf = (inputTokens: number, source: Usage['source']): Usage => ({ inputTokens, outputTokens: 0, source })

const noText = (): Problem => new Problem('invalid_field', 'This model makes embeddings, not text.', { field: 'model' })

/**
 * Reads the vectors, in the order of the texts. Some servers return numbers, whatever the encoding. Throws Failure, which
 * does not quote the body.
 */
function readEmbeddings(body: Buffer, texts: number, encoding: EmbeddingOptions['encoding']): Answer {
  const answer = parse(body.toString())
  if (!answerFields.Check(answer)) throw unusable('not embeddings')
  const { data, usage } = answer
  const vectors = new Map<number, Vector>()
  for (const [place, { index = place, embedding }] of data.entries()) {
    if (index >= texts || vectors.has(index)) throw unusable('an embedding of no text')
    vectors.set(index, embedding)
  }
  const lengths = new Set([...vectors.values()].map(lengthOf))
  if (vectors.size !== texts || lengths.size !== 1) throw unusable('not one embedding of the same length for each text')
  const inOrder = [...vectors].toSorted(([one], [other]) => one - other).map(([, vector]) => vector)
  const written = inOrder.map((vector) => (encoding === 'float' ? numbersOf(vector) : base64Of(vector)))
  return { vectors: written, inputTokens: usage?.prompt_tokens ?? usage?.total_tokens }
}

function numbersOf(vector: Vector): readonly number[] {
  if (typeof vector !== 'string') return vector
  const bytes = Buffer.from(vector, 'base64')
  const numbers = Array.from({ length: bytes.length / floatBytes }, (_, index) => bytes.readFloatLE(index * floatBytes))
  if (!numbers.every(Number.isFinite)) throw unusable('an embedding with something other than numbers')
  return numbers
}

function base64Of(vector: Vector): string {
  if (typeof vector === 'string') return vector
  const bytes = Buffer.alloc(vector.length * floatBytes)
  for (const [index, number] of vector.entries()) bytes.writeFloatLE(number, index * floatBytes)
  return bytes.toString('base64')
}

const floatBytes = 4

/** How many numbers a vector has. */
function lengthOf(vector: Vector): number {
  if (typeof vector !== 'string') return vector.length
  const bytes = Buffer.from(vector, 'base64')
  if (
    bytes.toString('base64') !== vector ||
    bytes.length % floatBytes !== 0 ||
    bytes.length / floatBytes > mostNumbers
  ) {
    throw unusable('an embedding that is not the base64 of 32-bit floats')
  }
  return bytes.length / floatBytes
}
