import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'

/** Where Node keeps the response in progress on a connection. Not in its documentation or types. */
const responseKey = '_httpMessage'

/** The response in progress on a connection. */
export function responseOn(
  socket: Duplex & { readonly [responseKey]?: ServerResponse | null },
): ServerResponse | undefined {
  return socket[responseKey] ?? undefined
}

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
