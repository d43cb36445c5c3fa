import type { FastifyReply } from 'fastify'

/** A signal that aborts when the caller disconnects before its response is complete, or has already disconnected. */
export function disconnectSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  if (reply.raw.destroyed) controller.abort()
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}
