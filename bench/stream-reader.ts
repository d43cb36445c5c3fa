const success = Buffer.from('HTTP/1.1 200 ')
const endOfEvent = Buffer.from('\n\n')
const firstText = Buffer.from('word')
const lastChunk = Buffer.from('\r\n0\r\n\r\n')
const lf = 0x0a

/** What has come of one stream. */
export interface Received {
  readonly events: number
  /** When its first text came; 0 before that. */
  readonly textAt: number
  /** The longest time between two reads that ended an event. */
  readonly longestGap: number
}

export interface StreamReader extends Received {
  /** Takes what has come by now. True when the answer is over. */
  push(data: Buffer, now: number): boolean
  /** The beginning of an answer that is none with status 200. */
  readonly refusal: string | undefined
}

/**
 * Reads one answer with status 200 in chunks (RFC 9112, section 7.1) that has Server-Sent Events in it. It only counts:
 * the framing of the chunks has no blank line but the last one, so that every other blank line ends an event.
 */
export function createStreamReader(): StreamReader {
  let [events, textAt, longestGap, eventAt] = [0, 0, 0, 0]
  let tail: Buffer = Buffer.alloc(0)
  let refusal: string | undefined
  let begun = false

  function count(data: Buffer): number {
    let ended = data[0] === lf && tail.at(-1) === lf ? 1 : 0
    for (let at = data.indexOf(endOfEvent); at !== -1; at = data.indexOf(endOfEvent, at + 2)) ended++
    return ended
  }

  return {
    get events() {
      return events
    },
    get textAt() {
      return textAt
    },
    get longestGap() {
      return longestGap
    },
    get refusal() {
      return refusal
    },
    push(data, now) {
      if (!begun && !data.subarray(0, success.length).equals(success)) refusal = data.toString('utf8', 0, 500)
      begun = true
      if (textAt === 0 && data.includes(firstText)) textAt = now
      const more = count(data)
      if (more > 0) {
        if (eventAt > 0) longestGap = Math.max(longestGap, now - eventAt)
        eventAt = now
        events += more
      }
      tail =
        data.length >= lastChunk.length
          ? data.subarray(-lastChunk.length)
          : Buffer.concat([tail, data]).subarray(-lastChunk.length)
      return refusal !== undefined || tail.equals(lastChunk)
    },
  }
}
