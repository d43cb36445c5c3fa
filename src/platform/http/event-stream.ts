import type { ServerResponse } from 'node:http'
import { probeEvent } from './half-close.ts'

/** A stream of Server-Sent Events to one caller. */
export interface EventStream {
  /** Whether the response has begun: a failure can then only be reported by an event. */
  readonly begun: boolean
  /** Sends the status and the headers. */
  begin(headers: Readonly<Record<string, string>>): void
  /**
   * Sends events in one write. Waits while the caller has not read what was sent before, and disconnects a caller that does
   * not read for too long. Does nothing after the caller has disconnected.
   */
  send(events: readonly string[]): Promise<void>
  /** Ends the response. */
  end(): void
}

/** Milliseconds between two pings, and milliseconds that a caller may leave unread what was sent. */
const times = { ping: 15_000, patience: 30_000 }

// Node sets TCP_NODELAY on every connection of a server, so events are not delayed.
/** Opens a stream on a response without headers. Pings are comments, which every reader ignores. */
export function createEventStream(response: ServerResponse, { ping, patience } = times): EventStream {
  let pings: NodeJS.Timeout | undefined
  const stopPings = () => clearInterval(pings)
  const gone = () => response.destroyed || response.writableEnded
  const sendPing = () => {
    if (!gone() && !response.writableNeedDrain) response.write(': ping\n\n')
  }

  return {
    get begun() {
      return response.headersSent
    },
    begin(headers) {
      response.writeHead(200, {
        ...headers,
        'content-type': 'text/event-stream; charset=utf-8',
        // Keeps nginx from buffering the events.
        'x-accel-buffering': 'no',
      })
      pings = setInterval(sendPing, ping)
      response.on(probeEvent, sendPing).once('close', stopPings)
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

/** Waits until the caller has read on or has disconnected. */
async function drained(response: ServerResponse, patience: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => response.destroy(), patience)
  response.once('drain', resolve).once('close', resolve)
  await promise
  clearTimeout(timer)
  response.off('drain', resolve).off('close', resolve)
}
