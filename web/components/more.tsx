import { Button } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useLocation } from 'react-router'
import { read } from '../api.ts'
import { notifyFailure } from './notify.ts'

export interface MoreProps<Page, Row> {
  /** The rows that came with the page. */
  readonly first: readonly Row[]
  /** The cursor of the next page. */
  readonly next: string | null
  readonly pick: (page: Page) => readonly Row[]
  readonly children: (rows: readonly Row[]) => ReactNode
}

/** A list that is fetched page by page, by a button at its end. */
export function More<Page extends { readonly next: string | null }, Row>(props: MoreProps<Page, Row>) {
  const { pathname, search } = useLocation()
  return <Fetched key={search} {...props} address={pathname + search} />
}

function Fetched<Page extends { readonly next: string | null }, Row>({
  first,
  next,
  pick,
  children,
  address,
}: MoreProps<Page, Row> & { readonly address: string }) {
  const [rest, setRest] = useState<{ readonly rows: readonly Row[]; readonly next: string | null }>()
  const [busy, setBusy] = useState(false)
  const cursor = rest ? rest.next : next

  async function more(from: string) {
    setBusy(true)
    try {
      const page = await read<Page>(`${address}${address.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(from)}`)
      setRest({ rows: [...(rest?.rows ?? []), ...pick(page)], next: page.next })
    } catch (error) {
      notifyFailure('No more were fetched', error)
    } finally {
      setBusy(false)
    }
  }

  return (
    <>
      {children([...first, ...(rest?.rows ?? [])])}
      {cursor !== null && (
        <Button variant="default" fullWidth loading={busy} onClick={() => void more(cursor)}>
          Show more
        </Button>
      )}
    </>
  )
}
