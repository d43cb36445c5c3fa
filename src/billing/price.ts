/** In 10⁻¹² of the currency unit per token, which is millionths per million tokens. */
export interface Price {
  readonly input: bigint
  readonly output: bigint
}

/** What the tokens cost, in 10⁻¹² of the currency unit. A constraint of the ledger checks the same rule. */
export function costOf(price: Price, inputTokens: number, outputTokens: number): bigint {
  return BigInt(inputTokens) * price.input + BigInt(outputTokens) * price.output
}

/** A row of the price history. It never changes. */
export interface PriceEntry extends Price {
  readonly model: string
  readonly validFrom: Date
  readonly source: 'configuration' | 'command' | 'portal'
  readonly state: 'past' | 'in force' | 'to come'
}
