import { at } from '../../platform/text/json.ts'
import { statedOf } from '../capabilities.ts'
import { least } from '../reported/reported-model.ts'
import { patches, type Vendor } from './vendor.ts'

/** Claude, also where gateways with OpenAI's API serve it. */
export const anthropic: Vendor = {
  models: /claude/i,
  // It requires its signed reasoning back with the results of its calls, and has no penalties: its own server with OpenAI's API ignores them.
  accepts: { cacheMarks: true, signatures: true, penalties: false },
  // LiteLLM has them as Anthropic's own API does.
  usage: { cached: 'cache_read_input_tokens', written: 'cache_creation_input_tokens' },
  finishReasons: {
    complete: ['end_turn', 'tool_use', 'pause_turn'],
    max_output_tokens: ['max_tokens', 'model_context_window_exceeded'],
    stop_sequence: ['stop_sequence'],
    content_filter: ['refusal'],
  },
  images: [[/^claude/, patches(28, 4784)]],
  listed(entry) {
    const supported = (name: string) => at(entry, 'capabilities', name, 'supported')
    return {
      can: statedOf({
        json: supported('structured_outputs'),
        images: supported('image_input'),
        documents: supported('pdf_input'),
        reasoning: supported('thinking'),
      }),
      context: least(at(entry, 'max_input_tokens')),
      maxOutputTokens: least(at(entry, 'max_tokens')),
    }
  },
}
