import { isIPv4, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'

/** The browser that sent a request. */
export interface Visitor {
  readonly cookies: string | undefined
  readonly device: string
  readonly network: string
  /** For the audit log. */
  readonly address: string
  readonly requestId: string
}

/** The address is that of the nearest hop that is not a trusted proxy. */
export function visitorOf({ headers, ip, id }: FastifyRequest): Visitor {
  return {
    cookies: headers.cookie,
    device: deviceOf(headers['user-agent']),
    network: networkOf(ip),
    address: ip,
    requestId: id,
  }
}

/** The first match counts: most browsers also claim to be some of the later ones. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
]

/** Such as "Firefox on Linux": enough for people to tell their browsers apart, and no text that a browser chose. */
export function deviceOf(userAgent: string | undefined = ''): string {
  const [browser, system] = [browsers, systems].map((known) => known.find(([sign]) => sign.test(userAgent))?.[1])
  if (browser === undefined && system === undefined) return 'Unknown browser'
  return system === undefined ? `${browser}` : `${browser ?? 'Unknown browser'} on ${system}`
}

/** The address of a sender for limits: a whole IPv4 address, or a /64 of IPv6, which belongs to one customer. */
export function senderNetworkOf(address: string): string {
  const ip = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (!isIPv6(ip)) return ip
  const [head = [], tail] = (ip.split('%')[0] ?? '').split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = tail === undefined ? 0 : 8 - head.length - tail.length
  const groups = [...head, ...Array<string>(zeros).fill('0'), ...(tail ?? [])]
  return `${groups.slice(0, 4).join(':')}::/64`
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
