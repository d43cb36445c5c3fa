/** Fields of requests that some upstreams take and others do not, by their names at the upstream, with the values that the caller sent. */
export type VendorFields = Readonly<Record<string, unknown>>

/** What a model is asked: the conversation so far, and what its reply may be. It is plain text: nothing in it acts as a control token. */
export interface Prompt {
  readonly messages: readonly Message[]
  /** The tools that the model may call. Undefined if there are no tools. */
  readonly tools?: readonly Tool[] | undefined
  /** Default `auto`. */
  readonly toolChoice?: ToolChoice | undefined
  /** False: at most one call in a reply. */
  readonly parallelCalls?: boolean | undefined
  /** Default: any text. */
  readonly format?: ReplyFormat | undefined
  /** Default: as the model does by itself. */
  readonly reasoning?: Reasoning | undefined
  /** Default: as the model does by itself. */
  readonly verbosity?: Verbosity | undefined
  /** Requests with the same key are likely to share the beginning of their prompts. */
  readonly cacheKey?: string | undefined
  /** The dialect's name of the last message's role if it is the assistant's: the reply continues it. Only to a model that does so. */
  readonly prefill?: string | undefined
  /** A search of the web by the vendor. Only to a model whose price has one. */
  readonly search?: WebSearch | undefined
  /** Sent to the upstream as they are. Only to a model that takes all of them. */
  readonly vendorFields?: VendorFields | undefined
}

/** A search of the web that the vendor runs. */
export interface WebSearch {
  /** The dialect's name of it, for errors. */
  readonly field: string
  /** Whether it may be left out: beside other tools, if the model chooses among them. */
  readonly optional: boolean
  /** The most searches, which its vendor keeps. */
  readonly maxUses: number
  readonly allowedDomains?: readonly string[]
  readonly blockedDomains?: readonly string[]
  readonly userLocation?: Readonly<Record<string, string>>
  readonly contextSize?: 'low' | 'medium' | 'high'
}

/**
 * A turn of the conversation: its text, or its parts in their order if it has anything else. `/v1/generate` sends its
 * instructions as `system` and its input as `user`. The results of calls belong to the user's turn after them.
 */
export type Message = TextMessage | PartsMessage

type Role = 'system' | 'user' | 'assistant'

export interface TextMessage {
  readonly role: Role
  readonly text: string
  readonly parts?: undefined
}

export interface PartsMessage {
  readonly role: Role
  readonly parts: readonly Part[]
  readonly text?: undefined
}

export type Part = TextPart | FilePart | ReasoningPart | CallPart | ResultPart

export interface TextPart {
  readonly kind: 'text'
  readonly text: string
  readonly cache?: CacheMark | undefined
}

/** An image or a PDF. */
export interface FilePart {
  readonly kind: 'file'
  /** `image/png`, `application/pdf`, … */
  readonly mediaType: string
  /** Base64. Empty while `url` is to be fetched. */
  readonly data: string
  /** Where an image is that is not fetched yet: it is fetched once its account could pay. */
  readonly url?: string | undefined
  /** Undefined for an image that is not fetched yet, and for a document whose pages are not counted yet. Both wait until its account could pay. */
  readonly extent: Extent | undefined
  /** The dialect's name of it, for errors. */
  readonly field: string
  readonly name?: string | undefined
  /** How closely to look at an image. Default: the vendor's. */
  readonly detail?: 'low' | 'high' | 'auto' | undefined
  readonly cache?: CacheMark | undefined
}

/** What the tokens of a file depend on: the pixels of an image, or the most pages that a document can have. */
export type Extent = { readonly width: number; readonly height: number } | { readonly pages: number }

/** Reasoning of the model. A vendor accepts it back only unchanged, with its signature. */
export interface ReasoningPart {
  readonly kind: 'reasoning'
  /** Empty if only the vendor can read it. */
  readonly text: string
  readonly signature?: string | undefined
  /** Whether the vendor withheld the text; then `signature` is all there is. */
  readonly redacted?: true | undefined
}

/** A call of a tool. */
export interface CallPart {
  readonly kind: 'call'
  readonly id: string
  readonly tool: string
  /** The arguments as the model wrote them: a JSON object. */
  readonly input: string
  readonly cache?: CacheMark | undefined
}

/** What a call returned. */
export interface ResultPart {
  readonly kind: 'result'
  readonly callId: string
  readonly content: readonly (TextPart | FilePart)[]
  readonly isError?: true | undefined
  readonly cache?: CacheMark | undefined
}

/** The prompt up to and including this place is worth keeping in the vendor's cache. */
export interface CacheMark {
  readonly ttl?: '5m' | '1h' | undefined
}

/** A function that the model may call. */
export interface Tool {
  readonly name: string
  readonly description?: string | undefined
  /** A JSON schema of type `object`. */
  readonly parameters: object
  /** The dialect's name of the schema, for errors. */
  readonly field: string
  /** Whether the arguments must follow the schema exactly. Default: the vendor's. */
  readonly strict?: boolean | undefined
  readonly cache?: CacheMark | undefined
}

/** `required`: at least one call. With a name: a call of this tool. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string }

/** Whether the model may choose between a text and a call. */
export const choosesFreely = ({ tools, toolChoice = 'auto' }: Pick<Prompt, 'tools' | 'toolChoice'>): boolean =>
  tools !== undefined && toolChoice === 'auto'

/** `json`: any JSON object. `schema`: JSON that follows the schema. */
export type ReplyFormat =
  | { readonly kind: 'json' }
  | {
      readonly kind: 'schema'
      readonly name: string
      readonly schema: object
      readonly description?: string | undefined
      readonly strict?: boolean | undefined
      /** The dialect's name of the schema, for errors. */
      readonly field: string
    }

/** How much to write. */
export type Verbosity = 'low' | 'high'

export const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof efforts)[number]

/** How much the model should think before it replies. */
export interface Reasoning {
  readonly effort?: Effort | undefined
  /** The most tokens to think, where the vendor takes a number. */
  readonly budgetTokens?: number | undefined
  /** Whether to return the reasoning or a summary of it. Default: the vendor's. */
  readonly summary?: 'auto' | 'concise' | 'detailed' | undefined
}

/** A token and its log probability. `bytes` are those of its text, if the upstream sends them: a token may be a part of a character. */
export interface Logprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[] | null
}

/** A token of a reply. `top`: the most likely tokens in its place, as many as were asked for. */
export interface TokenLogprob extends Logprob {
  readonly top: readonly Logprob[]
}

/** A part of a reply. The input of a call is empty where a model wrote none. */
export type ReplyPart = TextPart | ReasoningPart | CallPart

/**
 * A piece of a streamed reply that is not text. A `reasoning` belongs to the one before it, unless anything came between. A
 * `signature` ends it. An `input` continues the `call` before it: nothing else comes between. `withoutTokens`: the model did not
 * write this beginning of a call, so it does not count towards the output tokens.
 */
export type Delta =
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'signature'; readonly signature: string; readonly redacted?: true | undefined }
  | { readonly kind: 'call'; readonly id: string; readonly tool: string; readonly withoutTokens?: true }
  | { readonly kind: 'input'; readonly json: string }

/** The texts of a turn, joined by line breaks: what is left of it for a model that reads nothing else. */
export function textOfMessage(message: Message): string {
  if (message.parts === undefined) return message.text
  return message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
}

/** All images and documents of a conversation. */
export function filesOf(messages: readonly Message[]): readonly FilePart[] {
  if (messages.every(({ parts }) => parts === undefined)) return noFiles
  const parts = messages.flatMap((message) => message.parts ?? [])
  return parts
    .flatMap((part): readonly Part[] => (part.kind === 'result' ? part.content : [part]))
    .filter((part) => part.kind === 'file')
}

const noFiles: readonly FilePart[] = []
