import type { Vendor } from './vendor.ts'

export const bedrock: Vendor = {
  finishReasons: { content_filter: ['content_filtered', 'guardrail_intervened'] },
}
