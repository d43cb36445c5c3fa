import type { Vendor } from './vendor.ts'

export const miniMax: Vendor = { models: /minimax/i, accepts: { earlierReasoning: 'accepted' } }
