import { Outlet, useLoaderData, useLocation } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { Page } from '../../components/page.tsx'
import { ErasureBanner } from './erasure-banner.tsx'
import { Heading, Tabs } from './heading.tsx'
import { Offers } from './offers.tsx'
import { Properties } from './properties.tsx'
import { RecordActions } from './record-actions.tsx'
import classes from './record.module.css'

/** A client's record: the client's own fields, and a tab for each kind of item. */
export function RecordPage() {
  const record = useLoaderData<ClientRecord>()
  const isWide = useIsWide()
  return (
    <Page title={record.name} heading={<Heading record={record} />} actions={<RecordActions record={record} />}>
      <ErasureBanner record={record} />
      <div className={classes.columns} data-wide={isWide || undefined}>
        {/* Hidden, it keeps an edit of the client. */}
        <div className={classes.side} hidden={isWide}>
          <Properties key={record.id} record={record} />
        </div>
        <section className={classes.content} aria-label="Record content">
          {!isWide && <Tabs record={record} />}
          <Offers key={`offers of ${record.id}`} />
          {/* The form of one client never stays open on the record of another. */}
          <Outlet key={record.id} />
        </section>
      </div>
    </Page>
  )
}

/** A letter has the whole width, with its sources beside it. */
function useIsWide(): boolean {
  const { pathname, hash } = useLocation()
  const [, , , tab, item] = pathname.split('/')
  return tab === 'letters' && (item !== undefined || /^#(?:new|draft)/.test(hash))
}
