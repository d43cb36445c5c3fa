import { isUtf8 } from 'node:buffer'
import { unusable } from './failure.ts'

/** Bytes of one event: hundreds of times what a token takes. */
const mostBytes = 1024 * 1024

/** Server-Sent Events out of bytes that may be cut anywhere (WHATWG HTML, 9.2.6). Only their data is looked at. */
export interface EventStream {
  /** The data of every event that is complete now. Throws Failure for what is too large or not UTF-8. */
  push(chunk: Buffer): string[]
  /** The last event, where the stream ended without the blank line that completes it. */
  end(): string[]
}

const lf = 0x0a
const cr = 0x0d
const nothing: string[] = []

export function createEventStream(): EventStream {
  let rest: Buffer = Buffer.alloc(0)
  let data: string | undefined
  let size = 0
  let first = true
  // A CR at the end of a chunk ends its line; the LF that may follow belongs to it.
  let afterCr = false

  function push(chunk: Buffer): string[] {
    let bytes = afterCr && chunk[0] === lf ? chunk.subarray(1) : chunk
    if (chunk.length > 0) afterCr = false
    if (rest.length > 0) bytes = Buffer.concat([rest, bytes])
    const end = Math.max(bytes.lastIndexOf(lf), bytes.lastIndexOf(cr)) + 1
    rest = bytes.subarray(end)
    if (rest.length > mostBytes) throw unusable('a line without an end')
    if (end === 0) return nothing
    afterCr = rest.length === 0 && bytes[end - 1] === cr
    return readLines(bytes.subarray(0, end))
  }

  function readLines(block: Buffer): string[] {
    if (!isUtf8(block)) throw unusable('not UTF-8')
    const events: string[] = []
    const lines = block.toString().split(/\r\n|\n|\r/)
    // What follows the last line end is not a line.
    lines.pop()
    for (const line of lines) {
      const field = first && line.startsWith('\uFEFF') ? line.slice(1) : line
      first = false
      if (field === '') {
        if (data !== undefined) events.push(data)
        data = undefined
        size = 0
      } else if (field === 'data') add('')
      else if (field.startsWith('data:')) add(field.slice(field[5] === ' ' ? 6 : 5))
    }
    return events
  }

  function add(text: string): void {
    size += text.length
    if (size > mostBytes) throw unusable('an event without an end')
    data = data === undefined ? text : `${data}\n${text}`
  }

  return Object.freeze({ push, end: () => push(Buffer.from('\n\n')) })
}
