import { useLocation } from 'react-router'
import type { ClientList } from '../../../src/clients/schema.ts'
import { useLonger } from '../../components/longer.ts'

/** The list with all pages loaded so far. */
export function usePages({ clients: first, next }: ClientList) {
  const { pathname, search } = useLocation()
  const { rows, ...pages } = useLonger({
    first,
    next,
    pick: (page: ClientList) => page.clients,
    idOf: ({ id }) => id,
    address: pathname + search,
  })
  return { clients: rows, ...pages }
}
