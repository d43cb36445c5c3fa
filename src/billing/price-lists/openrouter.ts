import { at, isJsonObject, listOf, textOf } from '../../platform/text/json.ts'
import { readListedFields } from './listed-fields.ts'
import type { ListEntry, PriceList } from './list-entry.ts'

/**
 * OpenRouter's list of models, the reply of `GET https://openrouter.ai/api/v1/models` (openrouter.ai/docs/api-reference). Prices
 * are in USD per token; -1 stands for a price that depends on the request. Undefined if it is another document.
 */
export function readOpenRouterList(document: unknown): PriceList | undefined {
  const models = listOf(at(document, 'data')).flatMap(readEntry)
  return models.length === 0 ? undefined : { format: 'openrouter', currency: 'USD', models }
}

function readEntry(entry: unknown): ListEntry[] {
  const [id, slug, pricing] = [textOf(at(entry, 'id')), textOf(at(entry, 'canonical_slug')), at(entry, 'pricing')]
  if (id === '' || !isJsonObject(pricing)) return []
  return [{ names: slug === '' || slug === id ? [id] : [id, slug], ...readListedFields(pricing, fieldRules) }]
}

const fieldRules = {
  prices: {
    input: 'prompt',
    output: 'completion',
    cachedInput: 'input_cache_read',
    cacheWrite: 'input_cache_write',
  },
  asOutput: ['internal_reasoning'],
  isOther: () => false,
}
