import type { MantineColorScheme, MantineColorSchemeManager } from '@mantine/core'

/**
 * What a person has set in this browser. Signing out empties the browser's storage, so that nothing of a client stays;
 * these two say nothing of anybody and are cookies, which stay.
 */
type Setting = 'scheme' | 'keys'

const year = 365 * 24 * 60 * 60

export function readSetting(name: Setting): string | undefined {
  const cookie = document.cookie.split('; ').find((each) => each.startsWith(`${name}=`))
  return cookie?.slice(name.length + 1)
}

export function writeSetting(name: Setting, value: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  document.cookie = `${name}=${value}; Path=/; Max-Age=${year}; SameSite=Strict${secure}`
}

/** Light, dark, or as the system is. */
export const schemeManager: MantineColorSchemeManager = {
  get: (fallback) => schemeOf(readSetting('scheme')) ?? fallback,
  set: (scheme) => writeSetting('scheme', scheme),
  clear: () => writeSetting('scheme', 'auto'),
  subscribe: () => undefined,
  unsubscribe: () => undefined,
}

export function schemeOf(value: unknown): MantineColorScheme | undefined {
  return value === 'light' || value === 'dark' || value === 'auto' ? value : undefined
}
