import type { ModelKind } from '../../platform/config/config.ts'
import type { Prompt, RunLimits, StopReason } from '../model.ts'

/** The model that the child loads, and the size of its context. */
export interface LoadOrder {
  readonly kind: ModelKind
  readonly file: string
  /** Tokens per sequence, prompt and reply together. For embeddings: tokens of a text. */
  readonly context: number
  /** Sequences that generate at the same time. An embedding model has one. */
  readonly parallel: number
}

/** From the server to the child. `load` is sent once, as the first message. */
export type ToChild =
  | { readonly kind: 'load'; readonly order: LoadOrder }
  | { readonly kind: 'count'; readonly id: number; readonly prompt: Prompt }
  | RunOrder
  | EmbedOrder
  | { readonly kind: 'cancel'; readonly id: number }

/** A run. With `stream`, texts are sent as they are generated; otherwise together with the end. */
export interface RunOrder {
  readonly kind: 'run'
  readonly id: number
  readonly prompt: Prompt
  readonly limits: RunLimits
  /** Only its texts are generated. */
  readonly grammar: string | undefined
  readonly stream: boolean
}

/** Asks for the vectors of the prompt's messages. */
export interface EmbedOrder {
  readonly kind: 'embed'
  readonly id: number
  readonly prompt: Prompt
  /** How many numbers each vector should have; at most as many as the model makes. Default: all. */
  readonly dimensions: number | undefined
}

/** Text of a run, with the token counts up to its end. */
export type RunText = readonly [id: number, text: string, inputTokens: number, outputTokens: number]

/** How a run ended, and its unsent text. */
export interface GeneratedEnd {
  readonly text: string
  readonly stopReason: StopReason
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The final answer to one call. Only texts precede it. */
export type CallMessage =
  | CountedMessage
  | ({ readonly kind: 'ended'; readonly id: number } & GeneratedEnd)
  | EmbeddedMessage
  | TooLongMessage
  | { readonly kind: 'failed'; readonly id: number; readonly fault: string }

export interface CountedMessage {
  readonly kind: 'counted'
  readonly id: number
  readonly tokens: number
  /** How many numbers a vector of the model has. Undefined for a text model. */
  readonly vectorLength?: number
}

export interface EmbeddedMessage {
  readonly kind: 'embedded'
  readonly id: number
  /** One for each text, each of length 1. Undefined if the call was cancelled. */
  readonly vectors: readonly Float32Array[] | undefined
  /** The tokens that were evaluated. */
  readonly tokens: number
}

export interface TooLongMessage {
  readonly kind: 'too-long'
  readonly id: number
  readonly tokens: number
  /** The place of the text among several. Undefined for a prompt. */
  readonly place?: number
}

/** From the child to the server. One message carries the texts of all runs, to save messages. */
export type FromChild =
  | { readonly kind: 'ready'; readonly threads: number; readonly loadMilliseconds: number }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'alive'; readonly progress: number }
  | { readonly kind: 'texts'; readonly texts: readonly RunText[] }
  | CallMessage

const kindsToChild: ReadonlySet<unknown> = new Set<ToChild['kind']>(['load', 'count', 'run', 'embed', 'cancel'])
const kindsFromChild: ReadonlySet<unknown> = new Set<FromChild['kind']>([
  'ready',
  'unusable',
  'alive',
  'texts',
  'counted',
  'ended',
  'embedded',
  'too-long',
  'failed',
])

/** Both ends run the same version of this program, so `kind` implies the other fields. */
export function isToChild(message: unknown): message is ToChild {
  return kindsToChild.has(kindOf(message))
}

/** Like `isToChild`, for the other direction. */
export function isFromChild(message: unknown): message is FromChild {
  return kindsFromChild.has(kindOf(message))
}

function kindOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'kind' in message ? message.kind : undefined
}
