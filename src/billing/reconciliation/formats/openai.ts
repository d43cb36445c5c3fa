import { columnsOf, type ExportFormat } from './export-format.ts'

const kinds = ['organization.usage.completions.result', 'organization.usage.embeddings.result']

/**
 * OpenAI's usage: `GET /v1/organization/usage/completions` and `/embeddings` (developers.openai.com/api/reference, "Usage"), with the fields of
 * `UsageCompletionsResult` in its OpenAPI document, and the CSV that the usage dashboard exports, which has the same names and
 * an empty row for each bucket without usage, as public programs that read it say. `input_tokens` includes cached input and cache writes.
 */
export const openAiExport: ExportFormat = {
  name: "OpenAI's usage",
  recognised: ['start_time', 'end_time'],
  columns: columnsOf({
    read: [
      'object',
      'start_time',
      'end_time',
      'model',
      'input_tokens',
      'input_cached_tokens',
      'input_cache_write_tokens',
      'output_tokens',
      'num_model_requests',
    ],
    label: ['project_id', 'user_id', 'api_key_id', 'batch', 'service_tier', 'api_source'],
    // Parts of the counts above, by kind of content.
    other: [
      'start_time_iso',
      'end_time_iso',
      'input_uncached_tokens',
      ...['text', 'audio', 'image'].flatMap((content) => [
        `input_${content}_tokens`,
        `input_cached_${content}_tokens`,
        `input_cache_write_${content}_tokens`,
        `output_${content}_tokens`,
      ]),
    ],
  }),
  read(cells) {
    const [start, end] = [cells.seconds('start_time'), cells.seconds('end_time')]
    const object = cells.text('object')
    if (object !== '' && object !== 'bucket' && !kinds.includes(object)) {
      throw new RangeError(`object is ${object}, but only the usage of completions and embeddings is in the ledger`)
    }
    if (cells.hasNone(['input_tokens', 'num_model_requests', 'model'])) return { model: null, start, end, counts: {} }
    const [all, cached, write] = [
      cells.count('input_tokens'),
      cells.count('input_cached_tokens'),
      cells.count('input_cache_write_tokens'),
    ]
    if (cached + write > all) throw new RangeError('input_tokens is less than its cached and written tokens')
    return {
      model: cells.text('model'),
      start,
      end,
      counts: {
        input: all - cached - write,
        cached_input: cached,
        cache_write: write,
        output: cells.count('output_tokens'),
        requests: cells.count('num_model_requests'),
      },
    }
  },
}
