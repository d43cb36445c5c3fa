import type { FastifyRequest } from 'fastify'
import { networkOf } from './network.ts'

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
export function visitorOf({ headers, ip, id }: Pick<FastifyRequest, 'headers' | 'ip' | 'id'>): Visitor {
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
function deviceOf(userAgent: string | undefined = ''): string {
  const [browser, system] = [browsers, systems].map((known) => known.find(([sign]) => sign.test(userAgent))?.[1])
  if (browser === undefined && system === undefined) return 'Unknown browser'
  return system === undefined ? `${browser}` : `${browser ?? 'Unknown browser'} on ${system}`
}
