import { at, isJsonObject, listOf, textOf, type Json } from '../../platform/text/json.ts'
import { readListedFields } from './listed-fields.ts'
import type { ListedPlace, ListEntry, PriceList } from './list-entry.ts'

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
  return [
    { names: slug === '' || slug === id ? [id] : [id, slug], ...readListedFields(withSteps(pricing), fieldRules) },
  ]
}

const parts = {
  prompt: 'input',
  completion: 'output',
  input_cache_read: 'cachedInput',
  input_cache_write: 'cacheWrite',
} as const

/** The prices of `overrides` as fields, such as `overrides[200000].prompt`, unless they depend on more than the length of the prompt. */
function withSteps({ overrides, ...fields }: Json): Json {
  const steps = listOf(overrides).map((each) => (isJsonObject(each) ? stepIn(each) : undefined))
  const known = steps.filter((step) => step !== undefined)
  if (known.length < steps.length) return { ...fields, overrides }
  return { ...fields, ...Object.fromEntries(known.flat()) }
}

function stepIn({ min_prompt_tokens: least, ...prices }: Json): [string, unknown][] | undefined {
  if (!/^[1-9]\d{0,7}$/.test(textOf(least)) || Object.keys(prices).some((name) => !Object.hasOwn(parts, name)))
    return undefined
  return Object.entries(prices).map(([name, price]) => [`overrides[${textOf(least)}].${name}`, price])
}

function placeOf(field: string): ListedPlace | undefined {
  if (field === 'image') return { part: 'image' }
  if (field === 'web_search') return { part: 'webSearch' }
  const { least, name = '' } = /^overrides\[(?<least>\d+)\]\.(?<name>\w+)$/.exec(field)?.groups ?? {}
  const part = Object.entries(parts).find(([each]) => each === name)?.[1]
  // The price of a step is that of longer prompts; the list has that of prompts from this length on.
  return part && { part, above: Number(least) - 1 }
}

const fieldRules = {
  prices: {
    input: 'prompt',
    output: 'completion',
    cachedInput: 'input_cache_read',
    cacheWrite: 'input_cache_write',
  },
  placeOf,
  asOutput: ['internal_reasoning'],
  isOther: () => false,
}
