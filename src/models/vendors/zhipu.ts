import type { Vendor } from './vendor.ts'

/** GLM. */
export const zhipu: Vendor = {
  models: /glm/i,
  accepts: { earlierReasoning: 'accepted' },
  finishReasons: { content_filter: ['sensitive'] },
}
