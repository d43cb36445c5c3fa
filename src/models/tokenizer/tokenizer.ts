import type { Logger } from 'pino'
import { Problem } from '../../platform/problems.ts'
import { countedMessages, signatureBytes } from '../counted.ts'
import { fileTokens } from '../file-tokens.ts'
import type { CountOptions, Prompt, TokenCount } from '../model.ts'
import type { EndpointOptions } from '../upstream/endpoint.ts'
import { chooseTokenizer } from './choice.ts'
import type { CountingThread } from './counting-thread.ts'
import { createServerCount } from './server-count.ts'

export { createCountingThread, type CountingThread } from './counting-thread.ts'

/** Why a `tokenizer.json` cannot be used, and what to do; null when it can. */
export async function faultOfTokenizerFile(file: string): Promise<string | null> {
  const { loadTokenizerFile } = await import('./tokenizer-file.ts')
  return loadTokenizerFile(file).then(
    () => null,
    () => `${file} cannot be read as a tokenizer. Download the tokenizer.json of the model again.`,
  )
}

/** Counts the tokens of prompts for one upstream model. */
export interface Tokenizer {
  /** As of a model. */
  readonly cheapPrompt: number
  /**
   * An estimate, with `most` above it by the margin. Where it cannot be made, `tokens` is an upper bound: the bytes of the
   * prompt. Throws a Problem only when the caller disconnects.
   */
  readonly count: (prompt: Prompt, options?: CountOptions) => Promise<TokenCount>
  /** The estimate that `count` made of this prompt, if it made one. */
  readonly estimateOf: (prompt: Prompt) => number | undefined
  /** The tokens of the images and documents of this prompt, by the rules of the model's vendor. */
  readonly fileTokens: (prompt: Prompt) => number
  close(): Promise<void>
}

export interface TokenizerNeeds {
  /** `models[].tokenizer` of the configuration. */
  readonly setting: string
  /** Percent that the hold exceeds the estimate by. */
  readonly margin: number
  readonly upstreamModel: string
  /** The servers that can count, with the version at the end of each address. */
  readonly endpoints: readonly EndpointOptions[]
  /** Milliseconds. */
  readonly connect: number
  readonly thread: CountingThread
  readonly log: Logger
}

/** Characters that the counting thread counts in two or three milliseconds: some five times as long as a look at the account. */
const threadCheapPrompt = 16_384
/** Tokens that a chat template adds to a message, and to the prompt: some templates bring a system text of their own. */
const templateBound = { message: 16, prompt: 128 }

/**
 * Bytes of a signature for each token of the thoughts in it. Vendors do not publish how they encode them. As text, a token has
 * about four bytes; half of that leaves room.
 */
const signatureBytesPerToken = 2

/** An upper bound: no tokenizer that falls back on bytes makes more tokens than the text has bytes. */
function byteBound(prompt: Prompt): number {
  const messages = countedMessages(prompt)
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), signatureBytes(prompt))
  return bytes + messages.length * templateBound.message + templateBound.prompt
}

function bound(prompt: Prompt, upstreamModel: string): TokenCount {
  const tokens = byteBound(prompt) + fileTokens(prompt, upstreamModel)
  return { tokens, exact: false, most: tokens }
}

/** Counts bytes. */
const createByteTokenizer = (upstreamModel: string): Tokenizer =>
  Object.freeze({
    cheapPrompt: Infinity,
    count: async (prompt: Prompt) => bound(prompt, upstreamModel),
    estimateOf: () => undefined,
    fileTokens: (prompt: Prompt) => fileTokens(prompt, upstreamModel),
    close: async () => {},
  })

/** Counts bytes, for a model of any name. */
export const byteTokenizer = createByteTokenizer('')

export function createTokenizer(needs: TokenizerNeeds): Tokenizer {
  const { thread, margin, endpoints, upstreamModel, log } = needs
  const isAnthropic = endpoints.some(({ url, key }) => key && new URL(url).hostname === 'api.anthropic.com')
  const choice = chooseTokenizer({ ...needs, isAnthropic })
  if (choice.by === 'bytes') return createByteTokenizer(upstreamModel)
  const server = choice.by === 'server' ? createServerCount({ ...needs, api: choice.api }) : undefined
  const estimates = new WeakMap<Prompt, number>()

  function estimate(prompt: Prompt, options: CountOptions): Promise<number> {
    if (server) return server.count(prompt, options)
    if (choice.by !== 'text') return Promise.resolve(bound(prompt, upstreamModel).tokens)
    const text = thread.count(choice.source, countedMessages(prompt), options.signal)
    const others = fileTokens(prompt, upstreamModel) + Math.ceil(signatureBytes(prompt) / signatureBytesPerToken)
    return others === 0 ? text : text.then((tokens) => tokens + others)
  }

  return Object.freeze({
    // A server's count is a request of its own, however short the prompt.
    cheapPrompt: choice.by === 'server' ? 0 : threadCheapPrompt,
    async count(prompt: Prompt, options: CountOptions = {}) {
      try {
        const tokens = await estimate(prompt, options)
        estimates.set(prompt, tokens)
        return { tokens, exact: false, most: Math.ceil((tokens * (100 + margin)) / 100) }
      } catch (error) {
        if (options.signal?.aborted) throw uncounted()
        const { requestId: request_id } = options
        log.warn({ request_id, err: error }, 'the tokens of a prompt could not be counted: its bytes are used')
        return bound(prompt, upstreamModel)
      }
    },
    estimateOf: (prompt: Prompt) => estimates.get(prompt),
    fileTokens: (prompt: Prompt) => fileTokens(prompt, upstreamModel),
    close: async () => server?.close(),
  })
}

const uncounted = (): Problem =>
  new Problem('malformed_request', 'The caller disconnected before the tokens were counted.')
