import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { Problem } from '../../problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route stores the body as it arrives, and keeps no more than a small part of it in memory. */
    storesBody?: boolean
  }
}

/** The bytes of each body that do not count. Nearly all requests are shorter, so long ones do not keep them out. */
export const shortBody = 64 * 1024

/** Bounds the memory that long request bodies take in this process. */
export interface LongBodies {
  /**
   * Returns the request's body for reading. It counts until the response has ended. Reading it fails with Problem `overloaded` if this and
   * all others would be too long together. One that is not kept in memory does not count.
   */
  bound(request: IncomingMessage, response: ServerResponse, isStored?: () => boolean): Readable
}

/** `most`: bytes of all bodies at a time, without the first 64 KiB of each. */
export function createLongBodies(most: number): LongBodies {
  let all = 0

  /** Counts the bytes of one body. Throws Problem `overloaded`. */
  function createCount(response: ServerResponse): (bytes: number) => void {
    let [received, counted] = [0, 0]
    let isCounting = !response.destroyed
    response.once('close', () => {
      isCounting = false
      all -= counted
    })
    return (bytes) => {
      if (!isCounting) return
      received += bytes
      const more = Math.max(0, received - shortBody) - counted
      if (all + more > most) throw tooMany()
      counted += more
      all += more
    }
  }

  function bounded(request: IncomingMessage, response: ServerResponse): Readable {
    const body = Readable.from(counting(request, createCount(response)), { objectMode: false })
    // Fastify no longer listens for errors once it has refused a body, but the connection can still break.
    return body.on('error', () => undefined)
  }

  return Object.freeze<LongBodies>({
    bound: (request, response, isStored) =>
      isShort(request) || isStored?.() === true ? request : bounded(request, response),
  })
}

/** The rest of a body that is not read to its end is left to be discarded. */
async function* counting(request: IncomingMessage, count: (bytes: number) => void): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  for await (const chunk of chunks) {
    count(chunk.length)
    yield chunk
  }
}

function isShort({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) <= shortBody
}

const tooMany = (): Problem =>
  new Problem('overloaded', 'The service is handling too many long requests. Send the request again.', {
    retryAfter: 2,
  })
