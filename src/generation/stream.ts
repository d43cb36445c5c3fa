import type { ServerResponse } from 'node:http'

/** A stream of Server-Sent Events to one caller. */
export interface EventStream {
  /** Whether the answer has begun: from then on only an event can tell of a failure. */
  readonly begun: boolean
  /** Sends the head of the answer. */
  begin(headers: Readonly<Record<string, string>>): void
  /**
   * Writes events that are there together by one write, so that none is cut in two and none waits for another. Waits while
   * the caller has not read what was sent before, and cuts the connection of one who does not for too long. After the
   * caller has gone it does nothing.
   */
  send(events: readonly string[]): Promise<void>
  /** Ends the answer. */
  end(): void
}

/** Milliseconds between two pings, and that a caller may leave what was sent unread. */
const times = { ping: 15_000, patience: 30_000 }

// Node sets TCP_NODELAY on every connection of a server, so that an event leaves at once.
/** Opens a stream on an answer whose head has not been sent. A ping is a comment, which every reader skips. */
export function createEventStream(response: ServerResponse, { ping, patience } = times): EventStream {
  let pings: NodeJS.Timeout | undefined
  const stopPings = () => clearInterval(pings)
  const gone = () => response.destroyed || response.writableEnded

  return {
    get begun() {
      return response.headersSent
    },
    begin(headers) {
      response.writeHead(200, {
        ...headers,
        'content-type': 'text/event-stream; charset=utf-8',
        // Otherwise nginx collects the events before it passes them on.
        'x-accel-buffering': 'no',
      })
      pings = setInterval(() => {
        if (!gone() && !response.writableNeedDrain) response.write(': ping\n\n')
      }, ping)
      response.once('close', stopPings)
    },
    async send(events) {
      if (events.length > 0 && !gone() && !response.write(events.join(''))) await drained(response, patience)
    },
    end() {
      stopPings()
      response.end()
    },
  }
}

/** Until the caller has read on, or is gone. */
async function drained(response: ServerResponse, patience: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => response.destroy(), patience)
  response.once('drain', resolve).once('close', resolve)
  await promise
  clearTimeout(timer)
  response.off('drain', resolve).off('close', resolve)
}
