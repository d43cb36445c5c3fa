/** The four kinds of tokens that are counted and priced. */
export interface ChargedTokens {
  /** Tokens of the prompt that were neither read from a cache nor written to one. */
  readonly inputTokens: number
  readonly outputTokens: number
  /** Tokens of the prompt that the vendor read from its cache. */
  readonly cachedTokens: number
  /** Tokens of the prompt that the vendor wrote to its cache. */
  readonly cacheWriteTokens: number
}

/** The tokens of the prompt, of all three kinds. */
export const promptTokensOf = ({ inputTokens, cachedTokens, cacheWriteTokens }: ChargedTokens): number =>
  inputTokens + cachedTokens + cacheWriteTokens

/** What the limit of tokens per minute counts. */
export const allTokensOf = (tokens: ChargedTokens): number => promptTokensOf(tokens) + tokens.outputTokens

/**
 * The part of the tokens that was charged, given the number of charged prompt tokens and output tokens. The prompt's tokens are
 * charged in the order of the SQL function `chargeable()`: input, cache write, cached.
 */
export function chargedPart(used: ChargedTokens, promptTokens: number, outputTokens: number): ChargedTokens {
  const inputTokens = Math.min(used.inputTokens, promptTokens)
  const cacheWriteTokens = Math.min(used.cacheWriteTokens, promptTokens - inputTokens)
  return { inputTokens, outputTokens, cachedTokens: promptTokens - inputTokens - cacheWriteTokens, cacheWriteTokens }
}
