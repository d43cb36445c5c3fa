import { useSearchParams } from 'react-router'

const names = ['q', 'status', 'consultant', 'sort'] as const
type Name = (typeof names)[number]

/** What a list shows unless its address says otherwise. */
const usual = { q: '', status: 'active', consultant: '', sort: 'name' } as const

/** What the address of the list asks for, and the way to ask for something else. */
export function useQuery() {
  const [parameters, setParameters] = useSearchParams()
  const get = (name: Name) => parameters.get(name) ?? usual[name]
  return {
    get,
    isUsual: names.every((name) => name === 'sort' || get(name) === usual[name]),
    set: (changes: Partial<Record<Name, string>>) => {
      setParameters(
        (before) => {
          const after = new URLSearchParams(before)
          for (const name of names) {
            const value = changes[name] ?? after.get(name) ?? ''
            if (value === '' || value === usual[name]) after.delete(name)
            else after.set(name, value)
          }
          return after
        },
        { replace: true, preventScrollReset: true },
      )
    },
    reset: () => setParameters({}, { replace: true }),
  }
}
