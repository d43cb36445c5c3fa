import { isUtf8 } from 'node:buffer'
import { unusable } from './failure.ts'

/** Bytes of one event: hundreds of times what a token takes. */
const mostBytes = 1024 * 1024

/** Server-Sent Events out of bytes that may be cut anywhere (WHATWG HTML, 9.2.6). Only their data is looked at. */
export interface EventStream {
  /** Takes the data of every event that is complete now. Throws Failure for what is too large or not UTF-8. */
  push(chunk: Buffer): void
  /** Takes the last event, where the stream ended without the blank line that completes it. */
  end(): void
}

const lf = 0x0a
const cr = 0x0d
const anyLineEnd = /\r\n|\n|\r/

export function createEventStream(take: (data: string) => void): EventStream {
  let rest: Buffer[] = []
  let restBytes = 0
  let data: string | undefined
  let size = 0
  let first = true
  // A CR at the end of a chunk ends its line; the LF that may follow belongs to it.
  let afterCr = false

  function push(chunk: Buffer): void {
    const bytes = afterCr && chunk[0] === lf ? chunk.subarray(1) : chunk
    const end = Math.max(bytes.lastIndexOf(lf), bytes.lastIndexOf(cr)) + 1
    if (chunk.length > 0) afterCr = end > 0 && end === bytes.length && bytes[end - 1] === cr
    if (end > 0) {
      const lines = bytes.subarray(0, end)
      const block = restBytes === 0 ? lines : Buffer.concat([...rest, lines])
      rest = []
      restBytes = 0
      readBlock(block)
    }
    if (end === bytes.length) return
    rest.push(bytes.subarray(end))
    restBytes += bytes.length - end
    if (restBytes > mostBytes) throw unusable('a line without an end')
  }

  function readBlock(block: Buffer): void {
    if (isUtf8(block)) return readLines(block)
    readLines(validLines(block))
    throw unusable('not UTF-8')
  }

  function readLines(block: Buffer): void {
    const lines = block.toString().split(block.includes(cr) ? anyLineEnd : '\n')
    // What follows the last line end is not a line.
    lines.pop()
    for (const line of lines) {
      const field = first && line.startsWith('\uFEFF') ? line.slice(1) : line
      first = false
      if (field === '') complete()
      else if (field === 'data') add('')
      else if (field.startsWith('data:')) add(field.slice(field[5] === ' ' ? 6 : 5))
    }
  }

  function add(text: string): void {
    size += text.length
    if (size > mostBytes) throw unusable('an event without an end')
    data = data === undefined ? text : `${data}\n${text}`
  }

  function complete(): void {
    const whole = data
    data = undefined
    size = 0
    if (whole !== undefined) take(whole)
  }

  return Object.freeze({ push, end: () => push(Buffer.from('\n\n')) })
}

/** The lines before the first one that is not UTF-8. */
function validLines(block: Buffer): Buffer {
  let end = 0
  for (let next = block.indexOf(lf) + 1; next > 0; next = block.indexOf(lf, end) + 1) {
    if (!isUtf8(block.subarray(end, next))) break
    end = next
  }
  return block.subarray(0, end)
}
