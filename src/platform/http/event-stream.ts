import type { ServerResponse } from 'node:http'
import { probeEvent } from './connection/half-close.ts'

/** A stream of Server-Sent Events to one caller. */
export interface EventStream {
  /** Whether the response has begun: a failure can then only be reported by an event. */
  readonly begun: boolean
  /** Begins the response. Its headers and its first events are sent with the next ones: a write costs more than an event. */
  begin(headers: Readonly<Record<string, string>>, events?: readonly string[]): void
  /**
   * Sends events in one write. Waits while the caller has not read what was sent before, and disconnects a caller that does
   * not read for too long. Does nothing after the caller has disconnected.
   */
  send(events: readonly string[]): Promise<void>
  /** Ends the response with its last events. Waits as `send` does. */
  end(events?: readonly string[]): Promise<void>
}

/** Milliseconds between two pings, and milliseconds that a caller may leave unread what was sent. */
const times = { ping: 15_000, patience: 30_000 }

// Node sets TCP_NODELAY on every connection of a server, so events are not delayed.
/** Opens a stream on a response without headers. Pings are comments, which every reader ignores. */
export function createEventStream(response: ServerResponse, { ping, patience } = times): EventStream {
  let pings: NodeJS.Timeout | undefined
  let unsent = ''
  const stopPings = () => clearInterval(pings)
  const gone = () => response.destroyed || response.writableEnded
  const sendPing = () => {
    if (!gone() && !response.writableNeedDrain) response.write(': ping\n\n')
  }
  const take = (events: readonly string[]): string => {
    const text = unsent + events.join('')
    unsent = ''
    return text
  }

  return {
    get begun() {
      return response.headersSent
    },
    begin(headers, events = []) {
      unsent = events.join('')
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
      if (events.length > 0 && !gone() && !response.write(take(events))) await drained(response, patience)
    },
    async end(events = []) {
      stopPings()
      const text = take(events)
      if (text === '' || gone()) return void response.end()
      response.end(text)
      if (response.writableLength >= response.writableHighWaterMark) await drained(response, patience)
    },
  }
}

/** Waits until the caller has read on or has disconnected. */
async function drained(response: ServerResponse, patience: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => response.destroy(), patience)
  const events = ['drain', 'finish', 'close'] as const
  for (const event of events) response.once(event, resolve)
  await promise
  clearTimeout(timer)
  for (const event of events) response.off(event, resolve)
}
