import { quoted } from '../../../platform/text/one-line.ts'
import type { Measure } from '../vendor-row.ts'
import { columnsOf, type ExportFormat } from './export-format.ts'

const types: ReadonlyMap<string, Measure> = new Map([
  ['input_cache_miss_tokens', 'uncached_input'],
  ['input_cache_hit_tokens', 'cached_input'],
  ['output_tokens', 'output'],
  ['request_count', 'requests'],
])

/**
 * The file `amount-….csv` of the usage export of DeepSeek's platform, with a row for each kind of token. No document lists its columns: public
 * programs of 2026 read these.
 */
export const deepSeekExport: ExportFormat = {
  name: "DeepSeek's usage export",
  recognised: ['start_time_iso', 'type', 'amount'],
  columns: columnsOf({
    read: ['start_time_iso', 'end_time_iso', 'model', 'type', 'amount'],
    label: ['user_id', 'api_key_name', 'api_key'],
    other: ['price'],
  }),
  read(cells) {
    const type = cells.required('type')
    const measure = types.get(type)
    if (measure === undefined)
      throw new RangeError(`type is ${quoted(type)}, but must be ${[...types.keys()].join(', ')}`)
    return {
      model: cells.required('model'),
      start: cells.time('start_time_iso'),
      end: cells.time('end_time_iso'),
      counts: { [measure]: cells.count('amount') },
      apart: [measure],
    }
  },
}
