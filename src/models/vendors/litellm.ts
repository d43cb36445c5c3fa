import { at, listOf } from '../../platform/text/json.ts'
import { statedOf } from '../capabilities.ts'
import { combine, least, nameIn, type Findings } from '../reported/reported-model.ts'
import type { Vendor } from './vendor.ts'

export const liteLlm: Vendor = { usage: { writtenInDetails: 'cache_creation_tokens' } }

/** `GET /model/info`, by name. Several deployments may share one; undefined if the body is something else. */
export function readLiteLlm(body: unknown): ReadonlyMap<string, Findings> | undefined {
  const named = listOf(at(body, 'data')).filter((entry) => nameIn(at(entry, 'model_name')) !== undefined)
  if (named.length === 0) return undefined
  const found = new Map<string, Findings>()
  for (const entry of named) {
    const name = String(at(entry, 'model_name'))
    const findings = readDeployment(at(entry, 'model_info'))
    found.set(name, combine(found.get(name) ?? findings, findings))
  }
  return found
}

const textModes: readonly unknown[] = [undefined, null, 'chat', 'completion', 'responses']

function readDeployment(info: unknown): Findings {
  return {
    can: statedOf({
      tools: at(info, 'supports_function_calling'),
      json: at(info, 'supports_response_schema'),
      images: at(info, 'supports_vision'),
      documents: at(info, 'supports_pdf_input'),
      reasoning: at(info, 'supports_reasoning'),
    }),
    context: least(at(info, 'max_input_tokens')),
    maxOutputTokens: least(at(info, 'max_output_tokens')),
    writesText: textModes.includes(at(info, 'mode')),
  }
}
