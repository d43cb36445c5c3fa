import { isIP } from 'node:net'

/**
 * X-Forwarded-For with plain addresses, for a server behind proxies. Some proxies add the port, as in `192.0.2.7:4711` and
 * `[2001:db8::1]:443`: with it, each connection would seem to come from another sender. An entry that is no address ends the
 * list, because what is to its left comes from an unknown hop. Undefined if none is left.
 */
export function plainForwardedFor(header: string): string | undefined {
  const plain: string[] = []
  for (const entry of header.split(',').toReversed()) {
    const address = addressIn(entry.trim())
    if (address === undefined) break
    plain.unshift(address)
  }
  return plain.length === 0 ? undefined : plain.join(', ')
}

function addressIn(entry: string): string | undefined {
  const [, bracketed, withPort] = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(entry) ?? []
  const address = bracketed ?? withPort ?? entry
  return isIP(address) === 0 ? undefined : address
}
