import type { Logger } from 'pino'
import { Problem } from '../../platform/problems.ts'
import { countedMessages, fileTokens, signatureBytes, signatureTokens, type SignatureTokens } from '../counted.ts'
import type { CountOptions, Prompt, TokenCount } from '../model.ts'
import type { EndpointOptions } from '../upstream/pool/endpoint.ts'
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
   * An estimate, with `most` above it by the margin and by what signatures may have beyond the expected. Where it cannot be
   * made, `tokens` is an upper bound: the bytes of the prompt. Throws a Problem only when the caller disconnects.
   */
  readonly count: (prompt: Prompt, options?: CountOptions) => Promise<TokenCount>
  /** The estimate that `count` made of this prompt, if it made one. */
  readonly estimateOf: (prompt: Prompt) => number | undefined
  /** The tokens of this prompt besides its text: its files, by the rules of the model's vendor, and encrypted reasoning. */
  readonly tokensBesidesText: (prompt: Prompt) => number
  /** An upper bound of the tokens of this prompt, which no tokenizer exceeds. */
  readonly mostTokens: (prompt: Prompt) => number
  close(): Promise<void>
}

export interface TokenizerNeeds {
  /** `models[].tokenizer` of the configuration. */
  readonly setting: string
  /** Percent that the hold exceeds the estimate by. */
  readonly margin: number
  readonly upstreamModel: string
  /** Whether requests to the upstream have the signatures of earlier reasoning. */
  readonly sendsSignatures: boolean
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

/** An upper bound: no tokenizer that falls back on bytes makes more tokens than the text has bytes. */
function byteBound(prompt: Prompt): number {
  const messages = countedMessages(prompt)
  const bytes = messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
  return bytes + messages.length * templateBound.message + templateBound.prompt
}

type Upstream = Pick<TokenizerNeeds, 'upstreamModel' | 'sendsSignatures'>

function bound(prompt: Prompt, { upstreamModel, sendsSignatures }: Upstream): TokenCount {
  const ofSignatures = sendsSignatures ? signatureBytes(prompt) : 0
  const tokens = byteBound(prompt) + fileTokens(prompt, upstreamModel) + ofSignatures
  return { tokens, exact: false, most: tokens }
}

function tokensBesidesText(prompt: Prompt, { upstreamModel, sendsSignatures }: Upstream): number {
  return fileTokens(prompt, upstreamModel) + (sendsSignatures ? signatureTokens(prompt).expected : 0)
}

/** Counts bytes. */
const createByteTokenizer = (upstream: Upstream): Tokenizer =>
  Object.freeze({
    cheapPrompt: Infinity,
    count: async (prompt: Prompt) => bound(prompt, upstream),
    estimateOf: () => undefined,
    tokensBesidesText: (prompt: Prompt) => tokensBesidesText(prompt, upstream),
    mostTokens: (prompt: Prompt) => bound(prompt, upstream).tokens,
    close: async () => {},
  })

/** Counts bytes, for a model of any name. */
export const byteTokenizer = createByteTokenizer({ upstreamModel: '', sendsSignatures: true })

const noSignatures: SignatureTokens = { expected: 0, most: 0 }

export function createTokenizer(needs: TokenizerNeeds): Tokenizer {
  const { thread, margin, endpoints, upstreamModel, log } = needs
  const isAnthropic = endpoints.some(({ url, key }) => key && new URL(url).hostname === 'api.anthropic.com')
  const choice = chooseTokenizer({ ...needs, isAnthropic })
  if (choice.by === 'bytes') return createByteTokenizer(needs)
  const server = choice.by === 'server' ? createServerCount({ ...needs, api: choice.api }) : undefined
  // Anthropic counts them itself.
  const countsSignatures = needs.sendsSignatures && !(choice.by === 'server' && choice.api === 'anthropic')
  const estimates = new WeakMap<Prompt, number>()

  /** Without signatures, unless the server counts them. */
  function estimate(prompt: Prompt, options: CountOptions): Promise<number> {
    if (server) return server.count(prompt, options)
    if (choice.by !== 'text') return Promise.resolve(bound(prompt, needs).tokens)
    const text = thread.count(choice.source, countedMessages(prompt), options.signal)
    const ofFiles = fileTokens(prompt, upstreamModel)
    return ofFiles === 0 ? text : text.then((tokens) => tokens + ofFiles)
  }

  return Object.freeze<Tokenizer>({
    // A server's count is a request of its own, however short the prompt.
    cheapPrompt: choice.by === 'server' ? 0 : threadCheapPrompt,
    async count(prompt: Prompt, options: CountOptions = {}) {
      try {
        const counted = await estimate(prompt, options)
        const ofSignatures = countsSignatures ? signatureTokens(prompt) : noSignatures
        const tokens = counted + ofSignatures.expected
        estimates.set(prompt, tokens)
        const most = Math.ceil(((counted + ofSignatures.most) * (100 + margin)) / 100)
        return { tokens, exact: false, most }
      } catch (error) {
        if (options.signal?.aborted) throw uncounted()
        const { requestId: request_id } = options
        log.warn({ request_id, err: error }, 'the tokens of a prompt could not be counted: its bytes are used')
        return bound(prompt, needs)
      }
    },
    estimateOf: (prompt) => estimates.get(prompt),
    tokensBesidesText: (prompt) => tokensBesidesText(prompt, needs),
    mostTokens: (prompt) => bound(prompt, needs).tokens,
    close: async () => server?.close(),
  })
}

const uncounted = (): Problem =>
  new Problem('malformed_request', 'The caller disconnected before the tokens were counted.')
