import type { Vendor } from './vendor.ts'

/** Gemini. Its reasoning is in the total of the tokens only. */
export const google: Vendor = {
  finishReasons: {
    content_filter: ['safety', 'image_safety', 'recitation', 'prohibited_content', 'blocklist', 'spii'],
  },
}
