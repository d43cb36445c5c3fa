import { isJsonObject, textOf, type Json } from '../../platform/text/json.ts'
import { readListedFields } from './listed-fields.ts'
import type { ListedPlace, PriceList } from './list-entry.ts'

/**
 * LiteLLM's list, `model_prices_and_context_window.json` in github.com/BerriAI/litellm. Its first entry, `sample_spec`, describes the
 * fields. Prices are in USD per token. Undefined if it is another document.
 */
export function readLiteLlmList(document: unknown): PriceList | undefined {
  if (!isJsonObject(document)) return undefined
  const { sample_spec: _, ...entries } = document
  const listed = Object.entries(entries).flatMap(([name, entry]) =>
    isJsonObject(entry) && 'litellm_provider' in entry ? [{ name, entry }] : [],
  )
  if (listed.length === 0) return undefined
  return {
    format: 'litellm',
    currency: 'USD',
    models: listed.map(({ name, entry }) => ({
      names: [name],
      provider: textOf(entry['litellm_provider']),
      ...readListedFields(withSearches(entry), fieldRules),
    })),
  }
}

const searches = 'search_context_cost_per_query'

/** Searches cost the same with every amount of context, or have no single price. */
function withSearches(fields: Json): Json {
  const cost = fields[searches]
  if (!isJsonObject(cost)) return fields
  const [one, ...others] = new Set(Object.values(cost))
  return others.length === 0 ? { ...fields, [searches]: one } : fields
}

const tokenParts = {
  input_cost_per_token: 'input',
  output_cost_per_token: 'output',
  cache_read_input_token_cost: 'cachedInput',
  cache_creation_input_token_cost: 'cacheWrite',
} as const
const tokenField = new RegExp(
  `^(?<name>${Object.keys(tokenParts).join('|')})(?<hour>_above_1hr)?(?:_above_(?<thousands>\\d{1,5})k_tokens)?(?:_(?<tier>flex|priority))?$`,
)

function placeOf(field: string): ListedPlace | undefined {
  if (field === 'input_cost_per_image') return { part: 'image' }
  if (field === searches) return { part: 'webSearch' }
  const { name = '', hour, thousands, tier } = tokenField.exec(field)?.groups ?? {}
  if (!isTokenField(name) || (hour !== undefined && tokenParts[name] !== 'cacheWrite')) return undefined
  return {
    part: hour === undefined ? tokenParts[name] : 'cacheWriteHour',
    tier,
    above: thousands === undefined ? undefined : Number(thousands) * 1000,
  }
}

const isTokenField = (name: string): name is keyof typeof tokenParts => Object.hasOwn(tokenParts, name)

const fieldRules = {
  prices: {
    input: 'input_cost_per_token',
    output: 'output_cost_per_token',
    cachedInput: 'cache_read_input_token_cost',
    cacheWrite: 'cache_creation_input_token_cost',
  },
  placeOf,
  asOutput: ['output_cost_per_reasoning_token'],
  isOther: (field: string) =>
    /^(?:max_|supports_|supported_|litellm_provider$|mode$|source$|deprecation_date$|metadata$|comment$|rpm$|tpm$|output_vector_size$|tool_use_system_prompt_tokens$|base_model$|use_in_)/.test(
      field,
    ),
}
