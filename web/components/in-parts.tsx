import { useState, type ReactNode } from 'react'
import { useLocation } from 'react-router'
import { numberText } from '../locale.ts'
import { ShowMore } from './show-more.tsx'

interface InPartsProps<Row> {
  readonly all: readonly Row[]
  readonly children: (rows: readonly Row[]) => ReactNode
}

const partSize = 50

/** The numbers of rows that may be shown, by history entry and path, so that the back button restores them. */
const kept = new Map<string, number>()

/** A list that was loaded in full, drawn in parts with a button for the next one: a thousand rows take seconds to draw. */
export function InParts<Row>({ all, children }: InPartsProps<Row>) {
  const { pathname, key } = useLocation()
  const place = `${key} ${pathname}`
  const [, redraw] = useState(0)
  const most = kept.get(place) ?? partSize
  const rows = all.slice(0, most)
  const total = numberText(all.length)

  function more() {
    kept.set(place, most + partSize)
    redraw((count) => count + 1)
    return Promise.resolve()
  }

  return (
    <>
      {children(rows)}
      <ShowMore
        shown={rows.length}
        total={total}
        hasMore={rows.length < all.length}
        onMore={more}
        label={`Show more: ${numberText(rows.length)} of ${total}`}
      />
    </>
  )
}
