import { useState, type ReactNode } from 'react'
import { useLocation } from 'react-router'
import { joined, type Pages } from './joined.ts'
import { notifyFailure } from './notify.ts'
import { readOn } from './read-on.ts'
import { ShowMore } from './show-more.tsx'

export interface MoreProps<Page, Row> {
  /** The rows that came with the page. */
  readonly first: readonly Row[]
  /** The cursor of the next page. */
  readonly next: string | null
  readonly pick: (page: Page) => readonly Row[]
  /** The unique key of a row. */
  readonly idOf: (row: Row) => unknown
  readonly children: (rows: readonly Row[], isWhole: boolean) => ReactNode
  /** The URL of the list. Default: the URL of the page. */
  readonly address?: string
}

/** A list with a button that loads the next page. */
export function More<Page extends { readonly next: string | null }, Row>(props: MoreProps<Page, Row>) {
  const { pathname, search } = useLocation()
  const address = props.address ?? pathname + search
  return <Fetched key={address} {...props} address={address} />
}

function Fetched<Page extends { readonly next: string | null }, Row>({
  first,
  next,
  pick,
  idOf,
  children,
  address,
}: MoreProps<Page, Row> & { readonly address: string }) {
  const [longer, setLonger] = useState<Pages<Row>>()
  const { rows, next: cursor } = joined({ rows: first, next }, longer, idOf)

  async function more() {
    if (cursor === null) return
    try {
      const page = await readOn({ address, from: cursor, pick })
      setLonger({ rows: [...rows, ...page.rows], next: page.next })
    } catch (error) {
      notifyFailure('The next page was not loaded', error)
    }
  }

  return (
    <>
      {children(rows, cursor === null)}
      <ShowMore shown={rows.length} hasMore={cursor !== null} onMore={more} />
    </>
  )
}
