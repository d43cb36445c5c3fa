import { Badge } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { Link, Outlet, useLoaderData, useLocation } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { Page } from '../../components/page.tsx'
import { ErasureBanner } from './erasure-banner.tsx'
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

function Heading({ record }: { readonly record: ClientRecord }) {
  return (
    <div className={classes.heading}>
      <nav aria-label="Breadcrumb" className={classes.crumbs}>
        <Link to="/clients">Clients</Link>
        <IconChevronRight size={14} aria-hidden />
      </nav>
      <h1>{record.name}</h1>
      {record.status === 'archived' && <Badge color="gray">Archived</Badge>}
    </div>
  )
}

function Tabs({ record: { id, notes, disputes, letters } }: { readonly record: ClientRecord }) {
  const { pathname } = useLocation()
  // The record's own URL shows the notes.
  const shown = pathname.split('/')[3] ?? 'notes'
  const tabs = [
    { to: 'notes', name: 'Notes', count: notes.length },
    { to: 'disputes', name: 'Disputes', count: disputes.length },
    { to: 'letters', name: 'Letters', count: letters.length },
    { to: 'time_entries', name: 'Time', count: undefined },
    { to: 'expenses', name: 'Expenses', count: undefined },
    { to: 'costs', name: 'Costs', count: undefined },
    { to: 'activity', name: 'Activity', count: undefined },
  ]
  return (
    <nav className={classes.tabs} aria-label="Record">
      {tabs.map(({ to, name, count }) => (
        <Link
          key={to}
          ref={to === shown ? scrollToTab : null}
          to={`/clients/${id}/${to}`}
          className={classes.tab}
          aria-current={to === shown ? 'page' : undefined}
          preventScrollReset
        >
          {name}
          {count !== undefined && <span className={classes.count}>{count}</span>}
        </Link>
      ))}
    </nav>
  )
}

/** Scrolls the tabs, not the page, until one is in view: a phone has no room for all of them. */
function scrollToTab(tab: HTMLAnchorElement | null): void {
  const tabs = tab?.parentElement
  if (!tab || !tabs) return
  const [frame, shown] = [tabs.getBoundingClientRect(), tab.getBoundingClientRect()]
  if (shown.left < frame.left) tabs.scrollLeft += shown.left - frame.left
  else if (shown.right > frame.right) tabs.scrollLeft += shown.right - frame.right
}
