import type { Vendor } from './vendor.ts'

/** Kimi. The usage of a stream is in its choice. */
export const moonshot: Vendor = {
  models: /kimi/i,
  accepts: { earlierReasoning: 'accepted' },
  usage: { cached: 'cached_tokens' },
}
