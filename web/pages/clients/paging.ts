import { useState } from 'react'
import { useLocation } from 'react-router'
import type { ClientList, ListedClient } from '../../../src/clients/schema.ts'
import { read } from '../../api.ts'
import { joined, type Pages } from '../../components/joined.ts'
import { notifyFailure } from '../../components/notify.ts'

/** Extended lists by history entry, so that the back button restores them. */
const kept = new Map<string, Pages<ListedClient>>()

/** The list with all pages loaded so far. */
export function usePages(first: ClientList) {
  const { pathname, search, key } = useLocation()
  const [, redraw] = useState(0)
  const { rows, next } = joined({ rows: first.clients, next: first.next }, kept.get(key), ({ id }) => id)

  async function more() {
    if (next === null) return
    try {
      const query = new URLSearchParams(search)
      query.set('cursor', next)
      const page = await read<ClientList>(`${pathname}?${query.toString()}`)
      kept.set(key, { rows: [...rows, ...page.clients], next: page.next })
      redraw((count) => count + 1)
    } catch (error) {
      notifyFailure('The next clients were not loaded', error)
    }
  }

  return {
    clients: rows,
    next,
    more,
    /** Forgets all pages but the first, before a change to many rows. */
    forget: () => void kept.delete(key),
  }
}
