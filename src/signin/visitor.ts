import { isIPv4, isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Visitor } from './signin.ts'

/** What a request says of the browser that sent it. Its address is that of the nearest hop that no trusted proxy is. */
export function visitorOf({ headers, ip, id }: FastifyRequest): Visitor {
  return {
    cookies: headers.cookie,
    device: deviceOf(headers['user-agent']),
    network: networkOf(ip),
    address: ip,
    requestId: id,
  }
}

/** In the order in which they are looked for: most browsers claim to be some of those further down as well. */
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

/** "Firefox on Linux": enough for people to tell their browsers apart, and nothing that a browser could put in a page. */
export function deviceOf(userAgent: string | undefined = ''): string {
  const [browser, system] = [browsers, systems].map((known) => known.find(([sign]) => sign.test(userAgent))?.[1])
  if (browser === undefined && system === undefined) return 'Unknown browser'
  return system === undefined ? `${browser}` : `${browser ?? 'Unknown browser'} on ${system}`
}

/** The network that an address is in: a /24, or a /48 of IPv6; enough to tell the office from elsewhere. */
export function networkOf(address: string): string {
  const ip = address.replace(/^::ffff:(?=\d+\.)/i, '')
  if (isIPv4(ip)) return `${ip.split('.').slice(0, 3).join('.')}.0/24`
  if (!isIPv6(ip)) return 'unknown'
  const groups = (ip.split('%')[0] ?? '').split('::')[0]?.split(':') ?? []
  const first = [0, 1, 2].map((index) => groups[index] || '0')
  return `${first.join(':')}::/48`
}
