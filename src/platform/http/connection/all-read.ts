import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'

/**
 * Resolves when the event loop has read what had arrived on every connection. A process that was not scheduled for a while
 * runs its timers before it reads; closing a connection with unread bytes resets it.
 */
export async function allRead(): Promise<void> {
  // The first turn may begin after the loop has polled.
  await turn()
  await turn()
}

/** Closes a connection whose time without a request is over, unless one has arrived. */
export async function closeIfStillIdle(socket: Socket): Promise<void> {
  const { bytesRead } = socket
  await allRead()
  if (socket.bytesRead === bytesRead) socket.destroy()
}
