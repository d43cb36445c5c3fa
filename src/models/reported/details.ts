import { at, entriesOf, listOf } from '../../platform/text/json.ts'
import { nameIn, statedOf } from './model-list.ts'
import { combine, least, type Findings } from './reported-model.ts'

/** What servers say about their models elsewhere than in their list. */

/** `GET /props` of llama-server. A template without tools drops them silently, so this must be known in advance. */
export function readProps(body: unknown): Findings {
  return {
    can: statedOf({
      tools: at(body, 'chat_template_caps', 'supports_tools'),
      images: at(body, 'modalities', 'vision'),
    }),
    context: least(at(body, 'default_generation_settings', 'n_ctx')),
  }
}

/** `GET /model/info` of LiteLLM, by name. Several deployments may share one; undefined if the body is something else. */
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

/** `POST /api/show` of Ollama; undefined if the body is something else. */
export function readOllama(body: unknown): Findings | undefined {
  const listed = at(body, 'capabilities')
  if (!Array.isArray(listed)) return undefined
  const [, trained] = entriesOf(at(body, 'model_info')).find(([name]) => name.endsWith('.context_length')) ?? []
  const settings = at(body, 'parameters')
  const own = typeof settings === 'string' ? /^\s*num_ctx\s+(\d+)\s*$/m.exec(settings)?.[1] : undefined
  return {
    can: { tools: listed.includes('tools'), images: listed.includes('vision'), reasoning: listed.includes('thinking') },
    context: least(Number(own)),
    trainedContext: least(trained),
    writesText: listed.includes('completion'),
  }
}
