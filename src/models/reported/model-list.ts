import { at, isJsonObject, listOf } from '../../platform/text/json.ts'
import { vendors } from '../vendors/vendors.ts'
import { combine, nameIn, type Findings, type ReportedModel } from './reported-model.ts'

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

const otherKinds = /embed|rerank|moderat|classif|image|video|audio|speech|voice|transcri/i

/** Together, Novita and Hugging Face name the kind of a model; Azure and Fireworks say whether it can chat. */
function readKind(entry: unknown): Findings {
  const named = ['type', 'model_type', 'task'].map((name) => at(entry, name))
  const chats = [at(entry, 'capabilities', 'chat_completion'), at(entry, 'supports_chat')]
  const isOther = named.some((kind) => typeof kind === 'string' && otherKinds.test(kind) && !/text/i.test(kind))
  return { writesText: !isOther && !chats.includes(false) }
}

const readers = [...vendors.flatMap(({ listed }) => listed ?? []), readKind]
