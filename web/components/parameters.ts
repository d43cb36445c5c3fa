import { createContext, useContext } from 'react'
import { useLocation, useSearchParams, type Location } from 'react-router'

type Place = Pick<Location, 'pathname' | 'search'>

/** Returns the place that the page shows or, during a navigation, will show. The router knows it before the page is drawn. */
export const ComingPlace = createContext<() => Place>(() => location)

/**
 * The query parameters of the page, and a function to change them. Changes during a navigation add up. `''` removes a
 * parameter.
 */
export function useParameters() {
  const [parameters, setParameters] = useSearchParams()
  const { pathname } = useLocation()
  const comingPlace = useContext(ComingPlace)
  return {
    get: (name: string) => parameters.get(name) ?? '',
    change: (changes: Readonly<Record<string, string>>) => {
      const coming = comingPlace()
      const after = new URLSearchParams(coming.pathname === pathname ? coming.search : parameters)
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') after.delete(name)
        else after.set(name, value)
      }
      setParameters(after, { replace: true, preventScrollReset: true })
    },
    reset: () => setParameters({}, { replace: true }),
  }
}
