import { at } from '../../platform/text/json.ts'
import { least } from '../reported/reported-model.ts'
import type { Vendor } from './vendor.ts'

/** vLLM, and SGLang in most of it. Both name the stop sequence that ended a reply. */
export const vllm: Vendor = {
  listed: (entry) => ({ context: least(at(entry, 'max_model_len')) }),
}
