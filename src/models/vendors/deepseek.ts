import type { Vendor } from './vendor.ts'

export const deepSeek: Vendor = {
  models: /deepseek/i,
  // It requires the field in turns with calls, even if it is empty.
  accepts: { earlierReasoning: 'required' },
  usage: { cached: 'prompt_cache_hit_tokens' },
  finishReasons: { max_output_tokens: ['insufficient_system_resource'] },
}
