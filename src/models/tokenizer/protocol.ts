import type { TextMessage } from '../conversation.ts'

/** A tokenizer in memory. Both methods are synchronous and slow; only the counting thread calls them. */
export interface TextCounter {
  /** Tokens that the chat template adds to the texts of the messages. */
  readonly overhead: (messages: readonly TextMessage[]) => number
  readonly count: (text: string) => number
}

/** Counts the prompt with the tokenizer of `source`. */
export interface CountOrder {
  readonly kind: 'count'
  readonly id: number
  /** An encoding's name, or the path of a `tokenizer.json`. */
  readonly source: string
  readonly messages: readonly TextMessage[]
  /** Milliseconds of counting. */
  readonly budget: number
}

/** From the server to the counting thread. */
export type ToCounter = CountOrder | { readonly kind: 'cancel'; readonly id: number }

/** From the counting thread to the server: one reply for each order. */
export type FromCounter =
  | { readonly id: number; readonly tokens: number }
  | { readonly id: number; readonly fault: string }

/** Both ends are this program in one version, so `kind` settles the rest. */
export function isToCounter(message: unknown): message is ToCounter {
  return typeof message === 'object' && message !== null && 'kind' in message
}

/** As `isToCounter`, for the other direction. */
export function isFromCounter(message: unknown): message is FromCounter {
  return typeof message === 'object' && message !== null && 'id' in message
}
