import { useLocation, useNavigation, useSearchParams } from 'react-router'

/**
 * The query parameters of the page, and a function to change them. Changes during a navigation add up. `''` removes a
 * parameter.
 */
export function useParameters() {
  const [parameters, setParameters] = useSearchParams()
  const { pathname } = useLocation()
  const coming = useNavigation().location
  return {
    get: (name: string) => parameters.get(name) ?? '',
    change: (changes: Readonly<Record<string, string>>) => {
      const after = new URLSearchParams(coming?.pathname === pathname ? coming.search : parameters)
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') after.delete(name)
        else after.set(name, value)
      }
      setParameters(after, { replace: true, preventScrollReset: true })
    },
    reset: () => setParameters({}, { replace: true }),
  }
}
