import { Badge } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { Link, useLocation } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import classes from './record.module.css'

/** The client's name, below the list of clients. */
export function Heading({ record }: { readonly record: ClientRecord }) {
  return (
    <div className={classes.heading}>
      <Crumbs />
      <h1>{record.name}</h1>
      {record.status === 'archived' && <Badge color="gray">Archived</Badge>}
    </div>
  )
}

export function Crumbs() {
  return (
    <nav aria-label="Breadcrumb" className={classes.crumbs}>
      <Link to="/clients">Clients</Link>
      <IconChevronRight size={14} aria-hidden />
    </nav>
  )
}

/** The kinds of items. */
export function Tabs({ record: { id, notes, disputes, letters } }: { readonly record: ClientRecord }) {
  const { pathname } = useLocation()
  // The record's own URL shows the notes.
  const shown = pathname.split('/')[3] ?? 'notes'
  const tabs = [
    { to: 'notes', name: 'Notes', count: notes.length },
    { to: 'disputes', name: 'Disputes', count: disputes.length },
    { to: 'letters', name: 'Letters', count: letters.length },
    { to: 'documents', name: 'Documents', count: undefined },
    { to: 'tasks', name: 'Tasks', count: undefined },
    { to: 'contacts', name: 'Contacts', count: undefined },
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
