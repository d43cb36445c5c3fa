/** The parts of a stream, ready to be sent. */
export interface Frames {
  /** Before the first token. */
  readonly head: readonly Buffer[]
  readonly tokens: readonly Buffer[]
  /** Why it ended, and what it used. */
  readonly finish: readonly Buffer[]
  /** The event without which the stream is not whole. */
  readonly terminal: Buffer
}

/** One dialect of the wire: where it is asked, and how it answers. */
export interface Dialect<Options> {
  readonly path: string
  whole(options: Options): Buffer
  frames(options: Options): Frames
}

export const frame = (data: unknown): Buffer => Buffer.from(`data: ${JSON.stringify(data)}\n\n`)

/** As OpenAI's responses and Anthropic's messages send it: the type is the name of the event, too. */
export const namedFrame = (type: string, fields: object = {}): Buffer =>
  Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)

export const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
