import type { MantineColorScheme, MantineColorSchemeManager } from '@mantine/core'

/**
 * The person's settings in this browser. They are cookies, since signing out clears the browser's storage.
 */
type Setting = 'scheme' | 'keys' | 'time-offers'

const year = 365 * 24 * 60 * 60

export function readSetting(name: Setting): string | undefined {
  const cookie = document.cookie.split('; ').find((each) => each.startsWith(`${name}=`))
  return cookie?.slice(name.length + 1)
}

export function writeSetting(name: Setting, value: string): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  document.cookie = `${name}=${value}; Path=/; Max-Age=${year}; SameSite=Strict${secure}`
}

/** Light, dark, or the system's colour scheme. */
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
