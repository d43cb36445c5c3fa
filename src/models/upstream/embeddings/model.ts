import { textOfMessage } from '../../conversation.ts'
import { bytesOf } from '../../counted.ts'
import { noText } from '../../embeddings.ts'
import type { EmbeddedTexts, EmbeddingOptions, Model, Prompt, Usage } from '../../model.ts'
import { byteTokenizer } from '../../tokenizer/tokenizer.ts'
import { readErrorCode } from '../chat/chat-completions.ts'
import { mostAnswerBytes, readEmbeddings, type EmbeddingAnswer } from './answer.ts'
import { createEndpoint, type Endpoint } from '../pool/endpoint.ts'
import { Failure, refused } from '../failure.ts'
import type { OpenAiModelOptions } from '../chat/openai.ts'
import { createMemberPool } from '../pool/pool.ts'
import { readRefusal, type Reception } from '../pool/reception.ts'

type EmbeddingModelOptions = Omit<OpenAiModelOptions, 'maxOutputTokens' | 'capabilities'>

/**
 * An embedding model behind servers that speak OpenAI's `POST /embeddings`. Endpoints, retries and Problems are those of
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

  /** Endpoints that refuse to write base64. It takes a tenth of the time to read, so the others always write it. */
  const withoutBase64 = new Set<Endpoint>()

  async function embed(prompt: Prompt, how: EmbeddingOptions, signal: AbortSignal): Promise<EmbeddedTexts> {
    const { dimensions, encoding, requestId } = how
    if (signal.aborted) return { vectors: undefined, usage: usageOf(0, 'estimated') }
    const input = prompt.messages.map(textOfMessage)
    const bodyWith = (encoding_format?: 'base64') =>
      JSON.stringify({ model: upstreamModel, input, dimensions, encoding_format })
    const bounds = { mostBytes: mostAnswerBytes(input.length), signal }
    const ask = async (endpoint: Endpoint, total: number): Promise<EmbeddingAnswer | undefined> => {
      const open = async (form?: 'base64') => {
        const begun = endpoint.open(bodyWith(form), { ...bounds, total })
        return (await begun.opened) ? begun : undefined
      }
      const writesBase64 = !withoutBase64.has(endpoint)
      let reception = await open(writesBase64 ? 'base64' : undefined)
      if (writesBase64 && (reception?.status === 400 || reception?.status === 422)) {
        await readRefusal(reception)
        reception = await open()
        if (reception?.status === 200) withoutBase64.add(endpoint)
      }
      if (reception === undefined) return undefined
      const { status, retryAfter } = reception
      if (status === 200) return receive(reception, input.length, encoding)
      const body = await readRefusal(reception)
      const refusal = { status, retryAfter, body, origin: endpoint.name, code: readErrorCode(body) }
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
    ...noText,
    cheapPrompt: tokenizer.cheapPrompt,
    count: tokenizer.count,
    embed,
    health: () => pool.health(),
    close: async () => void (await Promise.all([tokenizer, ...endpoints].map((each) => each.close()))),
  })
}

/** Reads an answer. If that fails, the connection is closed, and the request is not sent again: the upstream has done its work. */
async function receive(
  reception: Reception,
  texts: number,
  encoding: EmbeddingOptions['encoding'],
): Promise<EmbeddingAnswer | undefined> {
  try {
    return await readEmbeddings(reception, texts, encoding)
  } catch (error) {
    reception.abandon()
    throw error instanceof Failure ? new Failure(error.problem) : error
  }
}

const bytesPerToken = 4

const usageOf = (inputTokens: number, source: Usage['source']): Usage => ({ inputTokens, outputTokens: 0, source })
