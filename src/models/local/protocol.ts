import type { Prompt, RunLimits, StopReason } from '../model.ts'

/** What the child loads, and how much room it makes. */
export interface LoadOrder {
  readonly file: string
  /** Tokens of one sequence: prompt and reply together. */
  readonly context: number
  /** Sequences that generate at the same time. */
  readonly parallel: number
}

/** From the server to the child. `load` comes first and once. */
export type ToChild =
  | { readonly kind: 'load'; readonly order: LoadOrder }
  | { readonly kind: 'count'; readonly id: number; readonly prompt: Prompt }
  | RunOrder
  | { readonly kind: 'cancel'; readonly id: number }

/** A run; as a `stream` its texts are sent while it goes on, else all of them with its end. */
export interface RunOrder {
  readonly kind: 'run'
  readonly id: number
  readonly prompt: Prompt
  readonly limits: RunLimits
  readonly stream: boolean
}

/** RunText of a run, and the tokens that it has had by then, in and out. */
export type RunText = readonly [id: number, text: string, inputTokens: number, outputTokens: number]

/** How a run ended, and the text that had not been sent yet. */
export interface GeneratedEnd {
  readonly text: string
  readonly stopReason: StopReason
  readonly inputTokens: number
  readonly outputTokens: number
}

/** What the child says of one call; the last one is all that a call gets besides texts. */
export type CallMessage =
  | { readonly kind: 'counted'; readonly id: number; readonly tokens: number }
  | ({ readonly kind: 'ended'; readonly id: number } & GeneratedEnd)
  | { readonly kind: 'too-long'; readonly id: number; readonly tokens: number }
  | { readonly kind: 'failed'; readonly id: number; readonly fault: string }

/** From the child to the server. Texts of all runs travel together, so that many small tokens cost few messages. */
export type FromChild =
  | { readonly kind: 'ready'; readonly threads: number; readonly loadMilliseconds: number }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'alive'; readonly progress: number }
  | { readonly kind: 'texts'; readonly texts: readonly RunText[] }
  | CallMessage

const kindsToChild: ReadonlySet<unknown> = new Set<ToChild['kind']>(['load', 'count', 'run', 'cancel'])
const kindsFromChild: ReadonlySet<unknown> = new Set<FromChild['kind']>([
  'ready',
  'unusable',
  'alive',
  'texts',
  'counted',
  'ended',
  'too-long',
  'failed',
])

/** Both ends are this program in one version, so the kind settles the rest; anything else on the channel is not ours. */
export function isToChild(message: unknown): message is ToChild {
  return kindsToChild.has(kindOf(message))
}

/** As `isToChild`, for the other direction. */
export function isFromChild(message: unknown): message is FromChild {
  return kindsFromChild.has(kindOf(message))
}

function kindOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'kind' in message ? message.kind : undefined
}
