import { notRuledOut, type Capability } from '../capabilities.ts'
import type { ReportedModel } from './reported-model.ts'

/** An entry of `models` for a model that a server reports. It has no price, so that the model cannot be called yet. */
export interface ImportedEntry {
  readonly id: string
  readonly engine: 'openai'
  readonly endpoints: readonly { readonly url: string; readonly key?: string }[]
  readonly upstream_model: string
  readonly context: number
  readonly max_output_tokens: number
  readonly capabilities?: readonly Capability[]
  readonly pass?: readonly string[]
}

export interface EntryOptions {
  readonly url: string
  /** The environment variable with the key. */
  readonly keyName: string | undefined
  /** The context of a model for which the server reports none. */
  readonly context: number | undefined
}

/** The id of the entry: the server's name with the characters that an id may have. */
export function entryIdOf({ id }: Pick<ReportedModel, 'id'>): string {
  return id
    .replaceAll(/[^A-Za-z0-9._:/-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 100)
}

/** Why there can be no entry for the model; null if there can. */
export function importFault(model: ReportedModel, { context }: Pick<EntryOptions, 'context'>): string | null {
  if (model.writesText === false) return 'it is not a text model'
  // The configuration has no other way to write it, and an upstream must not name a secret of this machine.
  if (model.id.includes('${')) return 'its name has ${, which stands for an environment variable in the configuration'
  if (contextOf(model, context) === undefined) return 'its context is not reported: give it with --context'
  return entryIdOf(model) === '' ? 'its name has no character that an id may have' : null
}

const namesOfOthers =
  /(?:^|[/_.-])(?:embed\w*|bge|e5|gte|rerank\w*|moderation|dall-e|imagen|image|flux|stable-diffusion|sora|veo|whisper|tts|transcribe|audio|realtime)(?:$|[/_.:-])/i
/** OpenAI's models that complete a text, or that its responses API alone serves. */
const withoutChat =
  /^(?:babbage-|davinci-|gpt-3\.5-turbo-instruct|computer-use-|codex-mini-|.*-deep-research|o\d-pro|gpt-[\d.]+-pro)/

/**
 * Whether a model of which the server reports nothing has the name of a model that does not chat: OpenAI lists everything that it has.
 * A name proves nothing, so such a model can still be chosen by it.
 */
export function seemsToBeOther({ id, can }: ReportedModel): boolean {
  return Object.keys(can ?? {}).length === 0 && (namesOfOthers.test(id) || withoutChat.test(id))
}

/** Throws if `importFault` has something to say. */
export function entryOf(model: ReportedModel, { url, keyName, context: given }: EntryOptions): ImportedEntry {
  const context = contextOf(model, given)
  if (context === undefined) throw new Error(`${model.id} has no context`)
  const reported = model.maxOutputTokens
  return {
    id: entryIdOf(model),
    engine: 'openai',
    endpoints: [{ url, ...(keyName !== undefined && { key: `\${${keyName}}` }) }],
    upstream_model: model.id,
    context,
    max_output_tokens: reported !== undefined && reported < context ? reported : Math.max(1, Math.floor(context / 4)),
    ...(Object.keys(model.can ?? {}).length > 0 && { capabilities: notRuledOut(model.can ?? {}) }),
    ...(model.takes && model.takes.length > 0 && { pass: model.takes }),
  }
}

function contextOf(model: ReportedModel, given: number | undefined): number | undefined {
  return model.context ?? model.trainedContext ?? given
}
