import { columnsOf, type ExportFormat } from './export-format.ts'

/**
 * OpenRouter's activity: `GET https://openrouter.ai/api/v1/activity` (openrouter.ai/docs, "ActivityItem"). Its prompt tokens are not
 * divided by the cache.
 */
export const openRouterActivity: ExportFormat = {
  name: "OpenRouter's activity",
  recognised: ['date', 'prompt_tokens'],
  columns: columnsOf({
    read: ['date', 'model', 'requests', 'prompt_tokens', 'completion_tokens'],
    label: ['endpoint_id', 'model_permaslug', 'provider_name'],
    other: ['usage', 'byok_usage_inference', 'reasoning_tokens'],
  }),
  read: (cells) => ({
    model: cells.required('model'),
    ...cells.day('date'),
    counts: {
      prompt: cells.count('prompt_tokens'),
      output: cells.count('completion_tokens'),
      requests: cells.count('requests'),
    },
  }),
}

/** The CSV of the same figures that its activity page exports. No document lists its columns: public programs of 2026 read these. */
export const openRouterDays: ExportFormat = {
  name: "the daily export of OpenRouter's activity page",
  recognised: ['Slug', 'Prompt Tokens'],
  columns: columnsOf({
    read: ['Date', 'Slug', 'Requests', 'Prompt Tokens', 'Completion Tokens'],
    label: [],
    other: ['Usage', 'BYOK Usage', 'Reasoning Tokens'],
  }),
  read: (cells) => ({
    model: cells.required('Slug'),
    ...cells.day('Date'),
    counts: {
      prompt: cells.count('Prompt Tokens'),
      output: cells.count('Completion Tokens'),
      requests: cells.count('Requests'),
    },
  }),
}

/**
 * The CSV of single generations that its activity page exports. No document lists its columns: public programs of 2026 read these. Cached
 * tokens are part of the prompt's.
 */
export const openRouterGenerations: ExportFormat = {
  name: "the export of generations of OpenRouter's activity page",
  recognised: ['generation_id', 'tokens_prompt'],
  columns: columnsOf({
    read: [
      'generation_id',
      'created_at',
      'model_permaslug',
      'variant',
      'tokens_prompt',
      'tokens_cached',
      'tokens_completion',
    ],
    label: [],
    other: [
      'cost_total',
      'cost_web_search',
      'cost_cache',
      'cost_file_processing',
      'byok_usage_inference',
      'tokens_reasoning',
      'provider_name',
      'cancelled',
      'streamed',
      'user',
      'finish_reason_raw',
      'finish_reason_normalized',
      'generation_time_ms',
      'time_to_first_token_ms',
      'api_key_disabled',
      'api_key_name',
      'app_name',
    ],
  }),
  read(cells) {
    const [prompt, cached] = [cells.count('tokens_prompt'), cells.count('tokens_cached')]
    if (cached > prompt) throw new RangeError('tokens_prompt is less than tokens_cached')
    const [at, variant] = [cells.time('created_at'), cells.text('variant')]
    return {
      model: `${cells.required('model_permaslug')}${['', 'standard'].includes(variant) ? '' : `:${variant}`}`,
      start: at,
      end: at + 1,
      counts: {
        uncached_input: prompt - cached,
        cached_input: cached,
        output: cells.count('tokens_completion'),
        requests: 1n,
      },
      id: cells.required('generation_id'),
    }
  },
}
