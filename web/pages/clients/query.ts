import { useParameters } from '../../components/parameters.ts'

const names = ['q', 'status', 'consultant', 'sort'] as const
type Name = (typeof names)[number]

/** The default query of the list. */
const usual = { q: '', status: 'active', consultant: '', sort: '' } as const

/** The query of the list from the URL, and a function to change it. */
export function useQuery() {
  const parameters = useParameters()
  const get = (name: Name) => parameters.get(name) || usual[name]
  const isUsualBut = (...except: readonly Name[]) =>
    names.every((name) => except.includes(name) || get(name) === usual[name])
  return {
    get,
    isUsual: isUsualBut('sort'),
    /** Whether nothing but the status narrows the list. */
    isStatusOnly: isUsualBut('sort', 'status'),
    set: (changes: Partial<Record<Name, string>>) => {
      const asked = names.flatMap((name) => {
        const value = changes[name]
        return value === undefined ? [] : [[name, value === usual[name] ? '' : value] as const]
      })
      parameters.change(Object.fromEntries(asked))
    },
    reset: parameters.reset,
  }
}
