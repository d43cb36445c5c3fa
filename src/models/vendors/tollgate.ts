import { at } from '../../platform/text/json.ts'
import { capabilities, isCapable } from '../capabilities.ts'
import { least } from '../reported/reported-model.ts'
import type { Vendor } from './vendor.ts'

/** Another Tollgate. */
export const otherTollgate: Vendor = {
  listed(entry) {
    const can = at(entry, 'capabilities')
    if (at(entry, 'owned_by') !== 'tollgate' || !Array.isArray(can)) return {}
    const listed = new Set(capabilities.filter((capability) => can.includes(capability)))
    return {
      can: Object.fromEntries(capabilities.map((capability) => [capability, isCapable(listed, capability)])),
      maxOutputTokens: least(at(entry, 'max_output_tokens')),
      writesText: at(entry, 'kind') !== 'embeddings',
    }
  },
}
