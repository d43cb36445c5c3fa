import { useEffect, type ComponentType } from 'react'
import { createBrowserRouter, type LoaderFunctionArgs } from 'react-router'
import type { AuditList } from '../src/clients/schema.ts'
import { ApiError, read } from './api.ts'
import { notifyFailure } from './components/notify.ts'
import { readOn } from './components/read-on.ts'
import { Shell } from './components/shell.tsx'
import { content } from './content.ts'
import { hasDrafts } from './drafts.ts'
import { numberPlaces } from './history.ts'
import { ClientsPage } from './pages/clients/clients.tsx'
import { Disputes } from './pages/record/disputes.tsx'
import { ItemPage } from './pages/record/item.tsx'
import { Letters } from './pages/record/letters.tsx'
import { Notes } from './pages/record/notes.tsx'
import { RecordPage } from './pages/record/record.tsx'
import { RecordRevisions } from './pages/record/revisions.tsx'
import { RefusalPage } from './pages/refusal/refusal.tsx'
import { SearchPage } from './pages/search/search.tsx'
import { SignInPage } from './pages/sign-in/sign-in.tsx'

/** What the page shows now, by address. */
const shown = new Map<string, unknown>()

/**
 * Asks `fetched` for what an address shows. Where that fails while something on the page is not saved, it stays as it
 * was: an error in its place would take away what is written.
 */
async function keeping(address: string, fetched: () => Promise<unknown>): Promise<unknown> {
  if (!hasDrafts()) shown.clear()
  try {
    const data = await fetched()
    shown.set(address, data)
    return data
  } catch (error) {
    if (!hasDrafts() || !shown.has(address) || !(error instanceof ApiError)) throw error
    notifyFailure('This page may be out of date', error)
    return shown.get(address)
  }
}

/** A page shows what its own address answers as JSON. */
function load({ request }: LoaderFunctionArgs): Promise<unknown> {
  const { pathname, search } = new URL(request.url)
  return keeping(pathname + search, () => read(pathname + search, request.signal))
}

const entriesOf = ({ audit }: AuditList) => audit

/** What is looked for may be further back than one page looks. */
async function loadAudit({ request }: LoaderFunctionArgs): Promise<AuditList> {
  const { pathname, search } = new URL(request.url)
  const address = pathname + search
  const first = await read<AuditList>(address, request.signal)
  if (first.audit.length > 0 || first.next === null) return first
  const { rows, next } = await readOn({ address, from: first.next, pick: entriesOf, signal: request.signal })
  return { audit: [...rows], next }
}

function loadRecord({ params, request }: LoaderFunctionArgs): Promise<unknown> {
  const address = `/clients/${params['client'] ?? ''}`
  return keeping(address, () => read(address, request.signal))
}

function loadItem({ params, request }: LoaderFunctionArgs): Promise<unknown> {
  const { pathname } = new URL(request.url)
  const address = pathname.replace(/\/revisions$/, '')
  return keeping(address, async () => {
    const [item, revisions] = await Promise.all([
      read(address, request.signal),
      read(`${address}/revisions`, request.signal),
    ])
    return { item, revisions, noun: params['noun'] }
  })
}

/** A page from a file of its own. Where an upgrade has taken that away meanwhile, the server is asked for the page. */
function part(fetched: () => Promise<ComponentType>) {
  return async () => ({ Component: await fetched().catch(() => Replaced) })
}

function Replaced() {
  const isFromServer = content.address.split('?')[0] === location.pathname
  useEffect(() => {
    if (!isFromServer) location.reload()
  }, [isFromServer])
  if (isFromServer) throw new Error('a file of this page is missing')
  return null
}

const tabs = [
  { index: true, Component: Notes },
  { path: 'notes', Component: Notes },
  { path: 'disputes', Component: Disputes },
  { path: 'letters', Component: Letters },
  {
    path: 'activity',
    loader: load,
    lazy: part(async () => (await import('./pages/record/activity.tsx')).ActivityTab),
  },
  { path: 'revisions', loader: load, Component: RecordRevisions },
  { path: ':noun/:item', loader: loadItem, Component: ItemPage },
  { path: ':noun/:item/revisions', loader: loadItem, Component: ItemPage },
]

const records = {
  path: 'clients/:client',
  id: 'record',
  loader: loadRecord,
  Component: RecordPage,
  // A tab that cannot be shown leaves the rest of the record, with what is being written there, as it is.
  children: [{ ErrorBoundary: RefusalPage, children: tabs }],
}

/** Pages that few people open are fetched when they do; the others come in one piece. */
const pages = [
  { path: 'clients', loader: load, Component: ClientsPage },
  records,
  { path: 'search', loader: load, Component: SearchPage },
  {
    path: 'people',
    loader: load,
    lazy: part(async () => (await import('./pages/people/people.tsx')).PeoplePage),
  },
  {
    path: 'audit',
    loader: loadAudit,
    lazy: part(async () => (await import('./pages/audit/audit.tsx')).AuditPage),
  },
  {
    path: 'me',
    loader: load,
    lazy: part(async () => (await import('./pages/me/me.tsx')).MePage),
  },
  { path: '*', loader: load, Component: RefusalPage },
]

const followMoves = numberPlaces()

export const router = createBrowserRouter([
  {
    path: 'signin',
    loader: load,
    ErrorBoundary: RefusalPage,
    HydrateFallback: Nothing,
    Component: SignInPage,
  },
  {
    Component: Shell,
    HydrateFallback: Nothing,
    children: [{ ErrorBoundary: RefusalPage, children: pages }],
  },
])
router.subscribe(followMoves)

/** Between the first paint and the first page there is nothing to see: the data came with the page. */
function Nothing() {
  return null
}
