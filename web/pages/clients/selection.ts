import { useState } from 'react'
import { useLocation } from 'react-router'
import type { ClientList, ListedClient } from '../../../src/clients/schema.ts'
import { read } from '../../api.ts'
import { notifyFailure } from '../../components/notify.ts'

/** A selected client, as the person last saw it. */
export type Selected = Pick<ListedClient, 'id' | 'name' | 'reference' | 'status' | 'consultant' | 'version'>

/** One step hands over at most this many clients. */
export const mostSelected = 1000

export type Selection = ReturnType<typeof useSelection>

const none: ReadonlyMap<string, Selected> = new Map()

/** The selected clients of a list. A search or a filter shows another list, without a selection. */
export function useSelection(shown: readonly ListedClient[]) {
  const { pathname, search } = useLocation()
  const [kept, setKept] = useState({ search, clients: none })
  const [last, setLast] = useState<string>()
  const [busy, setBusy] = useState(false)
  const clients = kept.search === search ? kept.clients : none
  const setClients = (next: ReadonlyMap<string, Selected>) => setKept({ search, clients: next })

  /** Sets whether clients are selected. Clients beyond `mostSelected` are not selected. */
  function mark(marked: readonly Selected[], isOn: boolean) {
    const next = new Map(clients)
    for (const client of marked) {
      if (!isOn) next.delete(client.id)
      else if (next.size < mostSelected) next.set(client.id, client)
    }
    setClients(next)
  }

  /** Also sets the rows between this one and the one before, for a click with Shift. */
  function toggle(client: ListedClient, withRange: boolean) {
    const from = withRange ? shown.findIndex(({ id }) => id === last) : -1
    const to = shown.findIndex(({ id }) => id === client.id)
    const rows = from < 0 ? [client] : shown.slice(Math.min(from, to), Math.max(from, to) + 1)
    mark(rows, !clients.has(client.id))
    setLast(client.id)
  }

  /** Selects the first `mostSelected` clients of the list, including those not yet shown. */
  async function selectAll() {
    setBusy(true)
    try {
      const all: ListedClient[] = []
      let cursor: string | null = null
      do {
        const query = new URLSearchParams(search)
        query.set('limit', '200')
        if (cursor !== null) query.set('cursor', cursor)
        const page: ClientList = await read<ClientList>(`${pathname}?${query.toString()}`)
        all.push(...page.clients)
        cursor = page.next
      } while (cursor !== null && all.length < mostSelected)
      setClients(new Map(all.slice(0, mostSelected).map((client) => [client.id, client])))
    } catch (error) {
      notifyFailure('The clients were not selected', error)
    } finally {
      setBusy(false)
    }
  }

  return {
    clients,
    busy,
    toggle,
    mark,
    selectAll: () => void selectAll(),
    clear: () => setClients(none),
    /** Refreshes the selected clients. */
    refresh: (changed: readonly Selected[]) =>
      setClients(new Map([...clients, ...changed.map((client) => [client.id, client] as const)])),
  }
}
