import { isJsonObject, textOf } from '../../platform/text/json.ts'
import { readListedFields } from './listed-fields.ts'
import type { PriceList } from './list-entry.ts'

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
      ...readListedFields(entry, fieldRules),
    })),
  }
}

const fieldRules = {
  prices: {
    input: 'input_cost_per_token',
    output: 'output_cost_per_token',
    cachedInput: 'cache_read_input_token_cost',
    cacheWrite: 'cache_creation_input_token_cost',
  },
  asOutput: ['output_cost_per_reasoning_token'],
  isOther: (field: string) =>
    /^(?:max_|supports_|supported_|litellm_provider$|mode$|source$|deprecation_date$|metadata$|comment$|rpm$|tpm$|output_vector_size$|tool_use_system_prompt_tokens$|base_model$|use_in_)/.test(
      field,
    ),
}
