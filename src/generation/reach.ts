import { backgroundTier } from '../billing/prices/rules.ts'
import { hasRules, holdTermsOf, type Reach } from '../billing/prices/terms.ts'
import type { Price } from '../billing/prices/prices.ts'
import type { Offer } from '../models/catalogue.ts'
import type { TokenCount } from '../models/model.ts'
import { filesOf, type CacheMark, type Part, type Prompt } from '../models/conversation.ts'
import { canSearch, mostInput } from './model-choice.ts'

/** What a request with this count of its prompt can reach of the rules of its price. Undefined if the price has none. */
export function reachOf(offer: Offer, prompt: Prompt, input: TokenCount, isBackground = false): Reach | undefined {
  const { price, model } = offer
  if (!hasRules(price)) return undefined
  const hasTier = isBackground && price.rules.serviceTiers?.[backgroundTier] !== undefined
  const search = searchOf(offer, prompt)
  const most = search ? model.contextTokens : input.exact ? undefined : model.mostTokens?.(prompt)
  return {
    // A count that is no more than an estimate does not bound the step.
    promptTokens: Math.max(mostInput(input), most ?? 0),
    images: filesOf(prompt.messages).filter(({ mediaType }) => mediaType !== 'application/pdf').length,
    hourWrites: marksOf(prompt).some(({ ttl }) => ttl === '1h'),
    tools: search ? { web_search: search.maxUses } : {},
    serviceTier: hasTier ? backgroundTier : textIn(prompt.vendorFields?.['service_tier']),
    region: textIn(prompt.vendorFields?.['inference_geo']),
  }
}

const searchOf = (offer: Offer, { search }: Prompt) => (search && canSearch(offer) ? search : undefined)

/** Tokens that a search adds to the prompt. Vendors do not bound them; what exceeds the hold is charged as any longer prompt. */
const tokensOfSearch = 10_000

/** The input tokens to hold, with those that searches may add. */
export function heldInput(offer: Offer, prompt: Prompt, input: TokenCount): number {
  const counted = mostInput(input)
  const search = searchOf(offer, prompt)
  if (search === undefined) return counted
  return Math.max(counted, Math.min(counted + search.maxUses * tokensOfSearch, offer.model.contextTokens))
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** The prices that a request is held at, and what it can cost besides its tokens. */
export const heldAt = (
  { price }: Offer,
  reach: Reach | undefined,
): { readonly price: Price; readonly fixedCost?: bigint } =>
  reach !== undefined && hasRules(price) ? holdTermsOf(price, reach) : { price }

function marksOf({ messages, tools = [] }: Prompt): readonly CacheMark[] {
  const marked = [...tools, ...messages.flatMap(({ parts = [] }) => parts.flatMap(withContent))]
  return marked.flatMap((part) => ('cache' in part && part.cache ? [part.cache] : []))
}

const withContent = (part: Part): readonly Part[] => (part.kind === 'result' ? [part, ...part.content] : [part])
