import { at } from '../../platform/text/json.ts'
import { statedOf } from '../capabilities.ts'
import { least, type Findings } from '../reported/reported-model.ts'
import type { Vendor } from './vendor.ts'

export const llamaServer: Vendor = {
  // `n_ctx` is what the server offers, and missing in older versions.
  listed: (entry) => ({
    context: least(at(entry, 'meta', 'n_ctx')),
    trainedContext: least(at(entry, 'meta', 'n_ctx_train')),
  }),
}

/** `GET /props`. A template without tools drops them silently, so this must be known in advance. */
export function readProps(body: unknown): Findings {
  return {
    can: statedOf({
      tools: at(body, 'chat_template_caps', 'supports_tools'),
      images: at(body, 'modalities', 'vision'),
    }),
    context: least(at(body, 'default_generation_settings', 'n_ctx')),
  }
}
