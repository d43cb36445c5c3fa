import type { Vendor } from './vendor.ts'

/** Fireworks does the same. */
export const perplexity: Vendor = { usage: { reasoning: 'reasoning_tokens' } }
