import { at, isJsonObject, listOf } from '../../platform/text/json.ts'
import { capabilities, isCapable, type Capability, type StatedCapabilities } from '../capabilities.ts'
import { combine, least, type Findings, type ReportedModel } from './reported-model.ts'

/** A list of models in the shape of OpenAI's `GET /models`, with what each kind of server adds to it. */
export interface ModelList {
  readonly models: readonly ReportedModel[]
  readonly isLlamaServer: boolean
  /** The id after which the next page begins, if there is one. */
  readonly next: string | undefined
}

/** Undefined if the body is something else. Entries that are none, and models with unusable names, are left out. */
export function readModelList(body: unknown): ModelList | undefined {
  const data = at(body, 'data')
  const entries = listOf(data).filter(isJsonObject)
  if (!Array.isArray(data) || (data.length > 0 && entries.length === 0)) return undefined
  const last = at(body, 'last_id')
  return {
    models: entries.flatMap((entry) => {
      const id = nameIn(entry['id'])
      return id === undefined ? [] : [{ id, ...readers.map((read) => read(entry)).reduce(combine) }]
    }),
    isLlamaServer: entries.some((entry) => entry['owned_by'] === 'llamacpp'),
    next: at(body, 'has_more') === true && typeof last === 'string' ? last : undefined,
  }
}

/** The name of a model if it can be written to a terminal, a log and a configuration. */
export function nameIn(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,200}$/.test(value) ? value : undefined
}

/** Only what the server states: `undefined` for null and for other types. */
export function statedOf(flags: Readonly<Partial<Record<Capability, unknown>>>): StatedCapabilities {
  return Object.fromEntries(Object.entries(flags).filter(([, flag]) => typeof flag === 'boolean'))
}

type Reader = (entry: unknown) => Findings

/** OpenRouter, and llama-server for the modalities. OpenRouter parses documents itself, whatever the model can do. */
const openRouter: Reader = (entry) => {
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
  }
}

const mistral: Reader = (entry) => {
  const can = at(entry, 'capabilities')
  return {
    can: statedOf({ tools: at(can, 'function_calling'), images: at(can, 'vision') }),
    context: least(at(entry, 'max_context_length')),
    writesText: at(can, 'completion_chat') !== false,
  }
}

const anthropic: Reader = (entry) => {
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
}

const vllm: Reader = (entry) => ({ context: least(at(entry, 'max_model_len')) })

/** `n_ctx` is what the server offers, and missing in older versions. */
const llamaServer: Reader = (entry) => ({
  context: least(at(entry, 'meta', 'n_ctx')),
  trainedContext: least(at(entry, 'meta', 'n_ctx_train')),
})

/** Another Tollgate. */
const tollgate: Reader = (entry) => {
  const can = at(entry, 'capabilities')
  if (at(entry, 'owned_by') !== 'tollgate' || !Array.isArray(can)) return {}
  const listed = new Set(capabilities.filter((capability) => can.includes(capability)))
  return {
    can: Object.fromEntries(capabilities.map((capability) => [capability, isCapable(listed, capability)])),
    maxOutputTokens: least(at(entry, 'max_output_tokens')),
    writesText: at(entry, 'kind') !== 'embeddings',
  }
}

const otherKinds = /embed|rerank|moderat|classif|image|video|audio|speech|voice|transcri/i

/** Together, Novita and Hugging Face name the kind of a model; Azure and Fireworks say whether it can chat. */
const kinds: Reader = (entry) => {
  const named = ['type', 'model_type', 'task'].map((name) => at(entry, name))
  const chats = [at(entry, 'capabilities', 'chat_completion'), at(entry, 'supports_chat')]
  const isOther = named.some((kind) => typeof kind === 'string' && otherKinds.test(kind) && !/text/i.test(kind))
  return { writesText: !isOther && !chats.includes(false) }
}

const readers: readonly Reader[] = [openRouter, mistral, anthropic, vllm, llamaServer, tollgate, kinds]
