import { createParser } from 'eventsource-parser'
import { ApiError } from './api.ts'

/** A server-sent event with JSON data. */
export interface ServerEvent {
  readonly event: string
  readonly data: unknown
}

/** The silence, in ms, after which a stream counts as lost. The server sends something at least every 15 s. */
const longestSilence = 45_000

/** The events of a stream as they arrive. Throws ApiError with status 0 if the connection is lost. */
export async function* eventsOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let arrived: ServerEvent[] = []
  const parser = createParser({
    onEvent: ({ event = 'message', data }) => arrived.push({ event, data: JSON.parse(data) }),
  })
  try {
    for (;;) {
      const { done, value } = await withinSilence(reader.read())
      if (done) return
      parser.feed(decoder.decode(value, { stream: true }))
      yield* arrived
      arrived = []
    }
  } catch {
    throw new ApiError(0, {})
  } finally {
    void reader.cancel().catch(() => undefined)
  }
}

async function withinSilence<Data>(work: Promise<Data>): Promise<Data> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new ApiError(0, {})), longestSilence)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}
