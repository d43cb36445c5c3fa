import type { ReactNode } from 'react'
import { useLocation } from 'react-router'
import { useLonger, type LongerNeeds } from './longer.ts'
import { ShowMore } from './show-more.tsx'

export interface MoreProps<Page, Row> extends Omit<LongerNeeds<Page, Row>, 'address'> {
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
  children,
  ...needs
}: MoreProps<Page, Row> & LongerNeeds<Page, Row>) {
  const { rows, next, more } = useLonger(needs)
  return (
    <>
      {children(rows, next === null)}
      <ShowMore shown={rows.length} hasMore={next !== null} onMore={more} />
    </>
  )
}
