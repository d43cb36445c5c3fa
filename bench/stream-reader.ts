const success = Buffer.from('HTTP/1.1 200 ')
const endOfEvent = Buffer.from('\n\n')
const firstText = Buffer.from('word')
const lastChunk = Buffer.from('\r\n0\r\n\r\n')
const lf = 0x0a

/** One stream's deliveries so far. */
export interface Received {
  readonly events: number
  /** When the first text arrived; 0 before that. */
  readonly textAt: number
  /** The longest time between two reads that ended an event. */
  readonly longestGap: number
}

export interface StreamReader extends Received {
  /** Adds received bytes. Returns true when the response is complete. */
  push(data: Buffer, now: number): boolean
  /** The beginning of a response whose status is not 200. */
  readonly refusal: string | undefined
}

/**
 * Reads one chunked response (RFC 9112, section 7.1) of server-sent events. It only counts blank lines: the chunks' framing
 * contains none except the last one, so every other blank line ends an event.
 */
export function createStreamReader(): StreamReader {
  let [events, textAt, longestGap, eventAt] = [0, 0, 0, 0]
  let tail: Buffer = Buffer.alloc(0)
  let refusal: string | undefined
  let started = false

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
      if (!started && !data.subarray(0, success.length).equals(success)) refusal = data.toString('utf8', 0, 500)
      started = true
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
