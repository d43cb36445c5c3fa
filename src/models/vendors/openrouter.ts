import { at, listOf } from '../../platform/text/json.ts'
import { least } from '../reported/reported-model.ts'
import type { Vendor } from './vendor.ts'

/** The format of `reasoning_details` whose signatures Claude accepts. */
export const claudeFormat = 'anthropic-claude-v1'

const besideUsual = ['logit_bias', 'logprobs', 'min_p', 'repetition_penalty', 'top_a', 'top_k', 'top_logprobs'] as const

/** llama-server states modalities in the same fields. OpenRouter parses documents itself, whatever the model can do. */
export const openRouter: Vendor = {
  usage: { writtenInDetails: 'cache_write_tokens' },
  listed(entry) {
    const parameters = listOf(at(entry, 'supported_parameters'))
    const inputs = listOf(at(entry, 'architecture', 'input_modalities'))
    const outputs = listOf(at(entry, 'architecture', 'output_modalities'))
    const takes = (...names: readonly string[]) => names.some((name) => parameters.includes(name))
    return {
      can: {
        ...(parameters.length > 0 && {
          tools: takes('tools'),
          json: takes('response_format', 'structured_outputs'),
          reasoning: takes('reasoning', 'include_reasoning', 'reasoning_effort'),
          verbosity: takes('verbosity'),
        }),
        ...(inputs.length > 0 && { images: inputs.includes('image') }),
      },
      context: least(at(entry, 'context_length'), at(entry, 'top_provider', 'context_length')),
      maxOutputTokens: least(at(entry, 'top_provider', 'max_completion_tokens')),
      writesText: outputs.length === 0 || outputs.includes('text'),
      ...(parameters.length > 0 && { takes: besideUsual.filter((field) => parameters.includes(field)) }),
    }
  },
}
