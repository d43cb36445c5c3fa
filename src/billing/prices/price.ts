import type { PriceRules } from './rules.ts'
import { isSameRules } from './written-rules.ts'
import type { ChargedTokens } from './tokens.ts'

/**
 * In 10⁻¹² of the currency unit per token, which is millionths per million tokens. Cached tokens and tokens of cache writes
 * are charged as input where they have no price of their own (null or absent).
 */
export interface Price {
  readonly input: bigint
  readonly output: bigint
  readonly cachedInput?: bigint | null | undefined
  readonly cacheWrite?: bigint | null | undefined
  /** What it has besides these four. Null or absent: nothing. */
  readonly rules?: PriceRules | null | undefined
  /** Of a price in force: the number of its row. */
  readonly number?: bigint | undefined
}

/** Whether a price has the same parts as another, also if it says that a part is missing in another way. */
export function isSamePrice(one: Price | undefined, other: Price): boolean {
  if (one?.input !== other.input || one.output !== other.output) return false
  return (
    (one.cachedInput ?? null) === (other.cachedInput ?? null) &&
    (one.cacheWrite ?? null) === (other.cacheWrite ?? null) &&
    isSameRules(one.rules, other.rules)
  )
}

/** What the tokens cost by the four prices, in 10⁻¹² of the currency unit. A constraint of the ledger checks the same rule. */
export function costOf(price: Price, tokens: ChargedTokens): bigint {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = tokens
  const cost = BigInt(inputTokens) * price.input + BigInt(outputTokens) * price.output
  if (cachedTokens === 0 && cacheWriteTokens === 0) return cost
  const { input, cachedInput, cacheWrite } = price
  return cost + BigInt(cachedTokens) * (cachedInput ?? input) + BigInt(cacheWriteTokens) * (cacheWrite ?? input)
}

/** The most that a request can cost by the four prices: every token of its prompt at the highest price of the three kinds. */
export function mostCostOf(price: Price, promptTokens: number, maxOutputTokens: number): bigint {
  const { input, cachedInput, cacheWrite } = price
  let highest = input
  if (cachedInput && cachedInput > highest) highest = cachedInput
  if (cacheWrite && cacheWrite > highest) highest = cacheWrite
  return BigInt(promptTokens) * highest + BigInt(maxOutputTokens) * price.output
}

/** A row of the price history. It never changes. */
export interface PriceEntry extends Price {
  readonly model: string
  readonly validFrom: Date
  readonly source: 'configuration' | 'command' | 'portal'
  readonly state: 'past' | 'in force' | 'to come'
}
