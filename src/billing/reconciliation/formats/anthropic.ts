import { columnsOf, type ExportFormat } from './export-format.ts'

/**
 * Anthropic's usage report: `GET /v1/organizations/usage_report/messages` (platform.claude.com/docs/en/api/admin/usage_report). It
 * does not count requests.
 */
export const anthropicReport: ExportFormat = {
  name: "Anthropic's usage report",
  recognised: ['starting_at', 'ending_at'],
  columns: columnsOf({
    read: [
      'starting_at',
      'ending_at',
      'model',
      'uncached_input_tokens',
      'cache_read_input_tokens',
      'cache_creation.ephemeral_5m_input_tokens',
      'cache_creation.ephemeral_1h_input_tokens',
      'output_tokens',
    ],
    label: [
      'account_id',
      'api_key_id',
      'context_window',
      'inference_geo',
      'service_account_id',
      'service_tier',
      'speed',
      'workspace_id',
    ],
    other: ['server_tool_use.web_search_requests'],
  }),
  read(cells) {
    const [start, end] = [cells.time('starting_at'), cells.time('ending_at')]
    if (cells.hasNone(['uncached_input_tokens', 'output_tokens', 'model']))
      return { model: null, start, end, counts: {} }
    return {
      model: cells.text('model'),
      start,
      end,
      counts: {
        input: cells.count('uncached_input_tokens'),
        cached_input: cells.count('cache_read_input_tokens'),
        cache_write:
          cells.count('cache_creation.ephemeral_5m_input_tokens') +
          cells.count('cache_creation.ephemeral_1h_input_tokens'),
        output: cells.count('output_tokens'),
      },
    }
  },
}

/**
 * The token CSV that the usage page of Anthropic's console exports. No document lists its columns: these are the ones that public
 * programs of 2026 read.
 */
export const anthropicCsv: ExportFormat = {
  name: "the token export of Anthropic's console",
  recognised: ['usage_date_utc', 'usage_output_tokens'],
  columns: columnsOf({
    read: [
      'usage_date_utc',
      'model_version',
      'usage_input_tokens_no_cache',
      'usage_input_tokens_cache_write_5m',
      'usage_input_tokens_cache_write_1h',
      'usage_input_tokens_cache_read',
      'usage_output_tokens',
    ],
    label: ['api_key', 'workspace', 'usage_type', 'context_window', 'inference_geo', 'speed'],
    other: ['web_search_count'],
  }),
  read: (cells) => ({
    model: cells.required('model_version'),
    ...cells.day('usage_date_utc'),
    counts: {
      input: cells.count('usage_input_tokens_no_cache'),
      cached_input: cells.count('usage_input_tokens_cache_read'),
      cache_write: cells.count('usage_input_tokens_cache_write_5m') + cells.count('usage_input_tokens_cache_write_1h'),
      output: cells.count('usage_output_tokens'),
    },
  }),
}
