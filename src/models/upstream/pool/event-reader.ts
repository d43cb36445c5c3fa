import { isUtf8 } from 'node:buffer'
import { createParser } from 'eventsource-parser'
import { unusable, type Failure } from '../failure.ts'

/** Characters of one event: hundreds of times what a token takes. */
const mostCharacters = 1024 * 1024

/** Reads server-sent events from bytes that may be cut anywhere. Only their data is kept. */
export interface EventReader {
  /** Passes on the data of every complete event. Throws Failure if an event is too large or the bytes are not UTF-8. */
  push(chunk: Buffer): void
  /** Passes on the last event if the stream ended without the blank line that completes it. */
  end(): void
}

export function createEventReader(take: (data: string) => void): EventReader {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let failure: Failure | undefined
  const parser = createParser({
    maxBufferSize: mostCharacters,
    onEvent({ data }) {
      // The parser bounds only what it buffers. An event may also arrive complete in one chunk.
      if (data.length > mostCharacters) throw tooLarge()
      take(data)
    },
    onError({ type }) {
      if (type === 'max-buffer-size-exceeded') failure = tooLarge()
    },
  })

  function feed(text: string): void {
    parser.feed(text)
    if (failure) throw failure
  }

  function push(chunk: Buffer): void {
    let text: string
    try {
      text = decoder.decode(chunk, { stream: true })
    } catch {
      feed(validLines(chunk).toString())
      throw unusable('not UTF-8')
    }
    feed(text)
  }

  // The line feeds also expose a character that is cut off.
  return Object.freeze({ push, end: () => push(Buffer.from('\n\n')) })
}

const tooLarge = (): Failure => unusable('an event of more than 1 MB')

/** The lines before the first line that is not UTF-8. */
function validLines(block: Buffer): Buffer {
  const lf = 0x0a
  let end = 0
  for (let next = block.indexOf(lf) + 1; next > 0; next = block.indexOf(lf, end) + 1) {
    if (!isUtf8(block.subarray(end, next))) break
    end = next
  }
  return block.subarray(0, end)
}
