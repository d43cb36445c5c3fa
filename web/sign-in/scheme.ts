import { readSetting, schemeOf } from '../settings.ts'

const dark = matchMedia('(prefers-color-scheme: dark)')

/** Uses the colours that the person chose in the portal, or those of the system. */
export function followScheme(): void {
  const chosen = schemeOf(readSetting('scheme')) ?? 'auto'
  const apply = () => {
    const system = dark.matches ? 'dark' : 'light'
    document.documentElement.dataset['mantineColorScheme'] = chosen === 'auto' ? system : chosen
  }
  apply()
  dark.addEventListener('change', apply)
}
