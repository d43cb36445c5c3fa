import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { Problem } from '../../problems.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route stores the body as it arrives. What it keeps in memory beyond a small part counts with `heldBy`. */
    storesBody?: boolean
  }
  interface FastifyInstance {
    /**
     * For a route that stores its body: to be called with the bytes that it has in memory whenever they change. Throws Problem `overloaded` if
     * those of all requests would be too many.
     */
    heldBy: (reply: FastifyReply) => HeldBytes
  }
}

/** The bytes of each body that do not count. Nearly all requests are shorter, so long ones do not keep them out. */
export const shortBody = 64 * 1024

/** Counts so many bytes of one body as being in memory now. Throws Problem `overloaded`. */
export type HeldBytes = (bytes: number) => void

/** Bounds the memory that long request bodies take in this process. */
export interface LongBodies {
  /**
   * Returns the request's body for reading. It counts until the response has ended. Reading it fails with Problem `overloaded` if this and
   * all others would be too long together. One that is not kept in memory does not count.
   */
  bound(request: IncomingMessage, response: ServerResponse, isStored?: () => boolean): Readable
  /** Counts what is in memory of a body that is stored as it arrives, until the response has ended. */
  held(response: ServerResponse): HeldBytes
}

/** `most`: bytes of all bodies at a time, without the first 64 KiB of each. */
export function createLongBodies(most: number): LongBodies {
  let all = 0

  function held(response: ServerResponse): HeldBytes {
    let counted = 0
    let isCounting = !response.destroyed
    response.once('close', () => {
      isCounting = false
      all -= counted
    })
    return (bytes) => {
      if (!isCounting) return
      const more = Math.max(0, bytes - shortBody) - counted
      if (more > 0 && all + more > most) throw tooMany()
      counted += more
      all += more
    }
  }

  function bounded(request: IncomingMessage, response: ServerResponse): Readable {
    const body = Readable.from(counting(request, held(response)), { objectMode: false })
    // Fastify no longer listens for errors once it has refused a body, but the connection can still break.
    return body.on('error', () => undefined)
  }

  return Object.freeze<LongBodies>({
    held,
    bound: (request, response, isStored) =>
      isShort(request) || isStored?.() === true ? request : bounded(request, response),
  })
}

/** The rest of a body that is not read to its end is left to be discarded. */
async function* counting(request: IncomingMessage, held: HeldBytes): AsyncGenerator<Buffer> {
  const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false })
  let received = 0
  for await (const chunk of chunks) {
    received += chunk.length
    held(received)
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
