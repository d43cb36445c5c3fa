import { useEffect, useEffectEvent, useState } from 'react'
import { useLocation } from 'react-router'
import { believed } from '../wire.ts'
import { joined, type Pages } from './joined.ts'
import { notifyFailure } from './notify.ts'
import { readOn } from './read-on.ts'

export interface LongerNeeds<Page, Row> {
  /** The rows that came with the page. */
  readonly first: readonly Row[]
  /** The cursor of the next page. */
  readonly next: string | null
  readonly pick: (page: Page) => readonly Row[]
  /** The unique key of a row. */
  readonly idOf: (row: Row) => unknown
  /** The URL of the list. */
  readonly address: string
}

/** Longer lists by history entry and URL, so that the back button restores them. */
const kept = new Map<string, Pages<unknown>>()

/** The first page of a list, with the later ones that were loaded before. Those are read again whenever the first one is. */
export function useLonger<Page extends { readonly next: string | null }, Row>(needs: LongerNeeds<Page, Row>) {
  const { first, next, pick, idOf, address } = needs
  const { key } = useLocation()
  const place = `${key} ${address}`
  const keptRows = () => believed<Pages<Row> | undefined>(kept.get(place))
  const [, redraw] = useState(0)
  const longer = keptRows()
  const shown = joined({ rows: first, next }, longer, idOf)

  function keep(pages: Pages<Row>) {
    kept.set(place, pages)
    redraw((count) => count + 1)
  }

  const readAgain = useEffectEvent(async (newFirst: readonly Row[], signal: AbortSignal) => {
    if (!longer) return undefined
    let again: Pages<Row> = { rows: newFirst, next }
    try {
      while (again.next !== null && again.rows.length < longer.rows.length) {
        const page = await readOn({ address, from: again.next, pick, signal })
        again = { rows: [...again.rows, ...page.rows], next: page.next }
      }
    } catch (error) {
      if (!signal.aborted) notifyFailure('This page may be out of date', error)
      return undefined
    }
    // Another page may have been loaded meanwhile.
    const latest = keptRows()
    return latest === longer ? again : joined(again, latest, idOf)
  })
  const replace = useEffectEvent(keep)
  useEffect(() => {
    const left = new AbortController()
    void readAgain(first, left.signal).then((pages) => pages && !left.signal.aborted && replace(pages))
    return () => left.abort()
  }, [first])

  async function more() {
    if (shown.next === null) return
    try {
      const page = await readOn({ address, from: shown.next, pick })
      keep({ rows: [...shown.rows, ...page.rows], next: page.next })
    } catch (error) {
      notifyFailure('The next page was not loaded', error)
    }
  }

  return {
    ...shown,
    more,
    /** Forgets all pages but the first, before a change to many rows. */
    forget: () => void kept.delete(place),
  }
}
