import type { ReactNode } from 'react'
import type { ClientList, ClientRecord, Letter } from '../../src/clients/schema.ts'
import type { InvoiceList } from '../../src/invoicing/schema.ts'
import type { OverviewData } from '../../src/overview/schema.ts'
import { Page } from '../components/page.tsx'
import { placesOf } from '../components/places.tsx'
import type { Content } from '../content.ts'
import { believed } from '../wire.ts'
import { FirstLetter } from './letter.tsx'
import { Lines } from './lines.tsx'
import { FirstClients, FirstInvoices } from './lists.tsx'
import { FirstOverview } from './overview.tsx'
import { FirstRecord } from './record.tsx'

/** The pages whose first content is in the data of their own URL. The others show lines in its place. */
const pages: readonly (readonly [address: RegExp, render: (data: unknown) => ReactNode])[] = [
  [/^\/$/, (data) => <FirstOverview data={believed<OverviewData>(data)} />],
  [/^\/clients$/, (data) => <FirstClients list={believed<ClientList>(data)} />],
  [/^\/clients\/[^/]+$/, (data) => <FirstRecord record={believed<ClientRecord>(data)} />],
  [/^\/clients\/[^/]+\/letters\/[^/]+$/, (data) => <FirstLetter letter={believed<Letter>(data)} />],
  [/^\/invoices$/, (data) => <FirstInvoices list={believed<InvoiceList>(data)} />],
]

/** The first content of a page. */
export function Main({ content: { address, data, error, viewer } }: { readonly content: Content }) {
  const { pathname, searchParams } = new URL(address, 'http://localhost')
  const isDeleted = searchParams.get('status') === 'deleted'
  const page = error === undefined && !isDeleted ? pages.find(([own]) => own.test(pathname)) : undefined
  if (page) return page[1](data)
  const place = placesOf(viewer?.person.role).find(({ to }) => to === pathname)
  return (
    <Page title={place?.name ?? ''} {...(!place && { heading: null })}>
      <Lines />
    </Page>
  )
}
