/** The encoded events of a stream. */
export interface Frames {
  /** Events before the first token. */
  readonly head: readonly Buffer[]
  readonly tokens: readonly Buffer[]
  /** Finish reason and usage. */
  readonly finish: readonly Buffer[]
  /** The terminal event. Without it the stream is incomplete. */
  readonly terminal: Buffer
}

/** A vendor API: its path and its encoding of replies. */
export interface Dialect<Options> {
  readonly path: string
  whole(options: Options): Buffer
  frames(options: Options): Frames
}

export const frame = (data: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)

/** An event of OpenAI's responses or Anthropic's messages: its name is its type. */
export const namedFrame = (type: string, fields: object = {}): Buffer =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)

export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
