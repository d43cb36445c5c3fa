/** A line of a file that cannot be read. The message says why. */
export class UnreadableLine extends Error {
  override readonly name = 'UnreadableLine'
  readonly line: number

  constructor(line: number, reason: string) {
    super(reason)
    this.line = line
  }
}

const newline = 0x0a

/** Decodes UTF-8 piece by piece, without a byte order mark. Throws UnreadableLine at a byte that is none. */
export async function* utf8Texts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  for await (const chunk of chunks) {
    yield decode(decoder, chunk, line)
    for (const byte of chunk) if (byte === newline) line += 1
  }
  yield decode(decoder, undefined, line)
}

/** The line is that on which the piece begins: a piece is at most 64 KiB. */
function decode(decoder: TextDecoder, chunk: Uint8Array | undefined, line: number): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined })
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UnreadableLine(line, 'there is text here or below that is not UTF-8')
  }
}
