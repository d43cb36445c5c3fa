import { at } from '../../platform/text/json.ts'
import { statedOf } from '../capabilities.ts'
import { least } from '../reported/reported-model.ts'
import type { Vendor } from './vendor.ts'

/** It refuses earlier reasoning, and sends the content of a reply with reasoning as a list. */
export const mistral: Vendor = {
  finishReasons: { max_output_tokens: ['model_length'] },
  listed(entry) {
    const can = at(entry, 'capabilities')
    return {
      can: statedOf({ tools: at(can, 'function_calling'), images: at(can, 'vision') }),
      context: least(at(entry, 'max_context_length')),
      writesText: at(can, 'completion_chat') !== false,
    }
  },
}
