import type { ModelConfig } from '../../platform/config/config.ts'
import type { ListEntry, PriceList } from './list-entry.ts'

/** A model that an upstream runs. */
export type VendorModel = Exclude<ModelConfig, { engine: 'local' }>

/** The vendors in LiteLLM's list, by the hosts of their APIs. */
const byHost: readonly (readonly [host: RegExp, provider: string])[] = [
  [/(?:^|\.)openai\.azure\.com$/, 'azure'],
  [/(?:^|\.)openai\.com$/, 'openai'],
  [/(?:^|\.)anthropic\.com$/, 'anthropic'],
  [/^generativelanguage\.googleapis\.com$/, 'gemini'],
  [/aiplatform\.googleapis\.com$/, 'vertex_ai'],
  [/(?:^|\.)amazonaws\.com$/, 'bedrock'],
  [/(?:^|\.)openrouter\.ai$/, 'openrouter'],
  [/(?:^|\.)mistral\.ai$/, 'mistral'],
  [/(?:^|\.)deepseek\.com$/, 'deepseek'],
  [/(?:^|\.)x\.ai$/, 'xai'],
  [/(?:^|\.)groq\.com$/, 'groq'],
  [/(?:^|\.)together\.(?:xyz|ai)$/, 'together_ai'],
  [/(?:^|\.)fireworks\.ai$/, 'fireworks_ai'],
  [/(?:^|\.)cohere\.(?:com|ai)$/, 'cohere'],
  [/(?:^|\.)perplexity\.ai$/, 'perplexity'],
  [/(?:^|\.)moonshot\.(?:ai|cn)$/, 'moonshot'],
]

/** The same by provider packages. */
const byPackage = new Map(
  Object.entries({
    '@ai-sdk/openai': 'openai',
    '@ai-sdk/anthropic': 'anthropic',
    '@ai-sdk/azure': 'azure',
    '@ai-sdk/google': 'gemini',
    '@ai-sdk/google-vertex': 'vertex_ai',
    '@ai-sdk/amazon-bedrock': 'bedrock',
    '@ai-sdk/mistral': 'mistral',
    '@ai-sdk/deepseek': 'deepseek',
    '@ai-sdk/xai': 'xai',
    '@ai-sdk/groq': 'groq',
    '@ai-sdk/togetherai': 'together_ai',
    '@ai-sdk/fireworks': 'fireworks_ai',
    '@ai-sdk/cohere': 'cohere',
    '@ai-sdk/perplexity': 'perplexity',
    '@openrouter/ai-sdk-provider': 'openrouter',
  }),
)

/** Who sells the model, as LiteLLM names the vendor. Undefined if its address does not tell. */
function providerOf(model: VendorModel): string | undefined {
  const urls =
    model.engine === 'openai' ? model.endpoints.map(({ url }) => url) : model.url === undefined ? [] : [model.url]
  const providers = urls.map((url) => byHost.find(([host]) => host.test(new URL(url).hostname))?.[1])
  if (urls.length > 0) return new Set(providers).size === 1 ? providers[0] : undefined
  return model.engine === 'ai-sdk' ? byPackage.get(model.package) : undefined
}

/** LiteLLM tells a vendor's APIs apart by what follows its name: `vertex_ai-language-models`, `bedrock_converse`. */
const isOf = (provider: string, { provider: listed = '' }: ListEntry): boolean =>
  listed === provider || listed.startsWith(`${provider}-`) || listed.startsWith(`${provider}_`)

/**
 * The entry of the list for a configured model: the one that `name` names, or the one with the name that the upstream uses, sold by
 * the upstream. Returns the names of all candidates if that leaves more than one.
 */
export function listedEntry(list: PriceList, model: VendorModel, name?: string): ListEntry | string[] | undefined {
  const wanted = name ?? model.upstream_model
  const exact = list.models.filter(({ names }) => names.includes(wanted))
  if (name !== undefined || list.format === 'openrouter') return exact[0]
  if (list.format === 'csv') return exact[0] ?? list.models.find(({ names: [listed] }) => listed === model.id)
  const provider = providerOf(model)
  const named = [...exact, ...list.models.filter(({ names: [listed] }) => listed.endsWith(`/${wanted}`))]
  const sold = provider === undefined ? named : named.filter((each) => isOf(provider, each))
  const [first, ...others] = sold
  const plain = sold.find(({ names: [listed] }) => listed === wanted || listed === `${provider}/${wanted}`)
  if (others.length === 0) return first
  return provider !== undefined && plain !== undefined ? plain : sold.map(({ names: [listed] }) => listed)
}
