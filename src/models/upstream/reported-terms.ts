import { anyRegion, standardTiers, vendorName } from '../../billing/prices/rules.ts'
import type { ReportedTerms } from '../../billing/prices/terms.ts'
import { at, isCount, isJsonObject } from '../../platform/text/json.ts'

/**
 * What a vendor reports of a reply that decides about its price besides its tokens: in the usage, as Anthropic's API and gateways to it
 * have it, or beside it, as OpenAI's have the service tier. Undefined without anything out of the ordinary: what few replies have must cost the others
 * nothing.
 */
export function readTerms(usage: unknown, serviceTier: unknown): ReportedTerms | undefined {
  if (!isJsonObject(usage)) return undefined
  const tier = nameIn(usage['service_tier'] ?? serviceTier, standardTiers)
  const region = nameIn(usage['inference_geo'], anyRegion)
  const hourWriteTokens = countIn(at(usage['cache_creation'], 'ephemeral_1h_input_tokens'))
  const searches = countIn(at(usage['server_tool_use'], 'web_search_requests'))
  if ((tier ?? region ?? hourWriteTokens ?? searches) === undefined) return undefined
  return {
    serviceTier: tier,
    region,
    hourWriteTokens,
    tools: searches === undefined ? undefined : { web_search: searches },
  }
}

/** The same in the fields of a usage. */
export const writtenTerms = ({ serviceTier, region, hourWriteTokens, tools }: ReportedTerms): object => ({
  service_tier: serviceTier,
  inference_geo: region,
  cache_creation: { ephemeral_1h_input_tokens: hourWriteTokens },
  server_tool_use: { web_search_requests: tools?.web_search },
})

/** A name that no price can have is treated like one that this price lacks. */
function nameIn(value: unknown, ordinary: ReadonlySet<string>): string | undefined {
  if (typeof value !== 'string' || value === '' || ordinary.has(value)) return undefined
  return vendorName.test(value) ? value : 'unknown'
}

const countIn = (value: unknown): number | undefined => (isCount(value) && value > 0 ? value : undefined)
