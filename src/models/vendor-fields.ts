import type { VendorFields } from './conversation.ts'

/** The fields of a vendor that servers with OpenAI's API take unless more is known of their model. */
export const commonFields = ['frequency_penalty', 'presence_penalty'] as const

/** The fields that decide about the price, and so need one. */
export const pricedFields = ['service_tier', 'inference_geo'] as const

/**
 * The fields that are written for a request that asks for what they do, instead of being passed on: what comes back is read, and held
 * and charged accordingly.
 */
export const writtenFields: ReadonlySet<string> = new Set(['logprobs', 'n', 'top_logprobs'])

/** The fields that choose among tokens or among servers. All others may become part of the prompt, so they are counted with it. */
const besidePrompt: ReadonlySet<string> = new Set([
  ...commonFields,
  'inference_geo',
  'logit_bias',
  'min_p',
  'provider',
  'repetition_penalty',
  'service_tier',
  'top_a',
  'top_k',
])

/** The fields that may become part of its prompt; undefined if there are none. */
export function fieldsInPrompt(fields: VendorFields | undefined): VendorFields | undefined {
  if (fields === undefined) return undefined
  const shown = Object.entries(fields).filter(([name]) => !besidePrompt.has(name))
  return shown.length === 0 ? undefined : Object.fromEntries(shown)
}
