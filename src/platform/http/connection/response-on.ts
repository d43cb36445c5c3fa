import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/** Where Node keeps the response in progress on a connection. Not in its documentation or types. */
const responseKey = '_httpMessage'

/** The response in progress on a connection. */
export function responseOn(
  socket: Duplex & { readonly [responseKey]?: ServerResponse | null },
): ServerResponse | undefined {
  return socket[responseKey] ?? undefined
}
