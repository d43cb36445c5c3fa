import { isIPv4, isIPv6 } from 'node:net'

/** The address of a sender for limits: a whole IPv4 address, or a /64 of IPv6, which belongs to one customer. */
export function senderNetworkOf(address: string): string {
  const ip = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(ip)) return ip
  const [head = [], tail] = (ip.split('%')[0] ?? '').split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length
  const groups = [...head, ...Array<string>(Math.max(0, zeros)).fill('0'), ...(tail ?? [])]
  return `${groups.slice(0, 4).map(plainGroup).join(':')}::/64`
}

/** The network of an address: a /24, or a /48 of IPv6. */
export function networkOf(address: string): string {
  const ip = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIPv4(ip)) return `${ip.split('.').slice(0, 3).join('.')}.0/24`
  if (!isIPv6(ip)) return 'unknown'
  const groups = (ip.split('%')[0] ?? '').split('::')[0]?.split(':') ?? []
  const first = [0, 1, 2].map((index) => groups[index] || '0')
  return `${first.join(':')}::/48`
}

/** One group has several spellings, such as `0DB8` and `db8`. */
function plainGroup(group: string): string {
  return Number.parseInt(group, 16).toString(16)
}
