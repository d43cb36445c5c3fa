import { useEffect, type ComponentType } from 'react'
import { createBrowserRouter, redirect, type LoaderFunctionArgs } from 'react-router'
import type { BudgetList } from '../src/accounts/budgets/schema.ts'
import type { AccountShown, CreditList, GrantedAccountShown, KeyList } from '../src/accounts/schema.ts'
import type { AlertList, AttemptList } from '../src/alerts/schema.ts'
import type { LetterMailList } from '../src/clients/letters/mail/schema.ts'
import type { LetterReviewList } from '../src/clients/letters/review/schema.ts'
import type { AuditList, Letter } from '../src/clients/schema.ts'
import type { AccountRequests, AccountUsageReport } from '../src/usage/account/schema.ts'
import { ApiError, read } from './api.ts'
import { notifyFailure } from './components/notify.ts'
import { readOn } from './components/read-on.ts'
import { Shell } from './components/shell.tsx'
import { content } from './content.ts'
import { hasUnsaved } from './unsaved.ts'
import { numberPlaces } from './history.ts'
import { auditAddress } from './pages/audit/address.ts'
import type { GrantedAccountData } from './pages/granted/account.tsx'
import { ClientsPage } from './pages/clients/clients.tsx'
import { Disputes } from './pages/record/disputes.tsx'
import { ItemPage } from './pages/record/item.tsx'
import { Notes } from './pages/record/notes.tsx'
import { RecordPage } from './pages/record/record.tsx'
import { RecordRevisions } from './pages/record/revisions.tsx'
import { RefusalPage } from './pages/refusal/refusal.tsx'
import { SearchPage } from './pages/search/search.tsx'
import { sessionState } from './session.ts'

/** The data that the page shows now, by URL. */
const shown = new Map<string, unknown>()

/**
 * Fetches the data of a URL. If that fails while the page has unsaved text, the page keeps its data: an error page would
 * replace the form.
 */
async function keeping(address: string, fetched: () => Promise<unknown>): Promise<unknown> {
  if (!hasUnsaved()) shown.clear()
  try {
    const data = await fetched()
    shown.set(address, data)
    return data
  } catch (error) {
    if (!hasUnsaved() || !shown.has(address) || !(error instanceof ApiError)) throw error
    notifyFailure('This page may be out of date', error)
    return shown.get(address)
  }
}

/** Loads the data of a page: the JSON of its own URL. */
function load({ request }: LoaderFunctionArgs): Promise<unknown> {
  const { pathname, search } = new URL(request.url)
  return keeping(pathname + search, () => read(pathname + search, request.signal))
}

const entriesOf = ({ audit }: AuditList) => audit

/** Matches may begin after the first page of results. */
async function loadAudit({ request }: LoaderFunctionArgs): Promise<AuditList> {
  const { pathname, search, searchParams } = new URL(request.url)
  const address = auditAddress(searchParams)
  const first = await read<AuditList>(address, request.signal, pathname + search)
  if (first.audit.length > 0 || first.next === null) return first
  const { rows, next } = await readOn({ address, from: first.next, pick: entriesOf, signal: request.signal })
  return { audit: [...rows], next }
}

/** The account, and the sign-in methods that the server offers. */
async function loadMe(args: LoaderFunctionArgs) {
  const [me, offered] = await Promise.all([load(args), read('/signin', args.request.signal)])
  return { me, offered }
}

/** An account with its keys, its budgets, its credit and its alerts, each of which has its own URL. */
async function loadAccount({ params, request }: LoaderFunctionArgs) {
  const address = `/accounts/${params['account'] ?? ''}`
  if (isDeveloper()) return loadGrantedAccount(address, request)
  const [account, { keys, models, base_url: baseUrl }, shared, credit, { alerts }, { attempts }] = await Promise.all([
    read<AccountShown>(address, request.signal),
    read<KeyList>(`${address}/keys`, request.signal),
    read<BudgetList>(`${address}/budgets`, request.signal),
    read<CreditList>(`${address}/credit`, request.signal),
    read<AlertList>(`${address}/alerts`, request.signal),
    read<AttemptList>(`${address}/alerts/attempts`, request.signal),
  ])
  const { budgets, time_zones: timeZones } = shared
  return { account, keys, models, baseUrl, budgets, timeZones, credit, alerts, attempts }
}

const isDeveloper = () => sessionState().role === 'developer'

/** What a developer sees of an account: with its usage in the days of the page's parameters. */
async function loadGrantedAccount(address: string, { url, signal }: Request): Promise<GrantedAccountData> {
  const days = [...new URL(url).searchParams].filter(([name]) => name === 'from' || name === 'to')
  const [account, { keys }, { budgets }, usage, { requests }] = await Promise.all([
    read<GrantedAccountShown>(address, signal),
    read<KeyList>(`${address}/keys`, signal),
    read<BudgetList>(`${address}/budgets`, signal),
    read<AccountUsageReport>(`${address}/usage?${new URLSearchParams(days).toString()}`, signal),
    read<AccountRequests>(`${address}/requests?limit=10`, signal),
  ])
  return { account, keys, budgets, usage, requests }
}

/** Developers have no clients: their first page lists their accounts. */
function loadOverview(args: LoaderFunctionArgs): Promise<unknown> {
  if (isDeveloper()) throw redirect('/accounts')
  return load(args)
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

/** A lazily loaded page. If an upgrade has removed its file, the browser loads the page from the server. */
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

/** The letters of a record come with it. Their drafts may be running. */
function loadLetters({ params, request }: LoaderFunctionArgs): Promise<unknown> {
  const address = `/clients/${params['client'] ?? ''}/drafts`
  return keeping(address, () => read(address, request.signal))
}

/** A letter, its versions, drafts and reviews, and once it is sent, the mails with it. */
function loadLetter({ params, request }: LoaderFunctionArgs): Promise<unknown> {
  const { client = '', letter = '' } = params
  const address = `/clients/${client}/letters/${letter}`
  return keeping(address, async () => {
    const [{ item, mails }, revisions, { drafts }, reviews] = await Promise.all([
      readMailed(address, request.signal),
      read(`${address}/revisions`, request.signal),
      read<{ drafts: unknown[] }>(`/clients/${client}/drafts?letter=${letter}`, request.signal),
      read<LetterReviewList>(`${address}/reviews`, request.signal),
    ])
    return { item, revisions, drafts, mails, reviews }
  })
}

async function readMailed(address: string, signal: AbortSignal): Promise<{ item: Letter; mails: unknown[] }> {
  const item = await read<Letter>(address, signal)
  return { item, mails: item.status === 'sent' ? (await read<LetterMailList>(`${address}/mails`, signal)).mails : [] }
}

const lettersTab = part(async () => (await import('./pages/letter/letters.tsx')).Letters)
const letterPage = part(async () => (await import('./pages/letter/letter.tsx')).LetterPage)

const documentPage = part(async () => (await import('./pages/documents/document.tsx')).DocumentPage)

const tabs = [
  { index: true, Component: Notes },
  { path: 'notes', Component: Notes },
  { path: 'disputes', Component: Disputes },
  { path: 'letters', loader: loadLetters, lazy: lettersTab },
  { path: 'letters/:letter', loader: loadLetter, lazy: letterPage },
  { path: 'letters/:letter/revisions', loader: loadLetter, lazy: letterPage },
  {
    path: 'activity',
    loader: load,
    lazy: part(async () => (await import('./pages/record/activity.tsx')).ActivityTab),
  },
  {
    path: 'documents',
    loader: load,
    lazy: part(async () => (await import('./pages/documents/documents.tsx')).DocumentsTab),
  },
  { path: 'documents/:item', loader: loadItem, lazy: documentPage },
  { path: 'documents/:item/revisions', loader: loadItem, lazy: documentPage },
  {
    path: 'tasks',
    loader: load,
    lazy: part(async () => (await import('./pages/tasks/tasks.tsx')).TasksTab),
  },
  {
    path: 'contacts',
    loader: load,
    lazy: part(async () => (await import('./pages/contacts/contacts.tsx')).ContactsTab),
  },
  {
    path: 'time_entries',
    loader: load,
    lazy: part(async () => (await import('./pages/record/time.tsx')).TimeTab),
  },
  {
    path: 'expenses',
    loader: load,
    lazy: part(async () => (await import('./pages/record/time.tsx')).ExpensesTab),
  },
  {
    path: 'costs',
    loader: load,
    lazy: part(async () => (await import('./pages/record/costs.tsx')).CostsTab),
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
  // If one tab fails, the rest of the record and its unsaved text stay.
  children: [{ ErrorBoundary: RefusalPage, children: tabs }],
}

/** Rarely used pages are loaded on demand; the others are in one bundle. */
const pages = [
  {
    index: true,
    loader: loadOverview,
    lazy: part(async () => (await import('./pages/overview/overview.tsx')).OverviewPage),
  },
  { path: 'clients', loader: load, Component: ClientsPage },
  records,
  { path: 'search', loader: load, Component: SearchPage },
  {
    path: 'accounts',
    loader: load,
    lazy: part(async () => (await import('./pages/granted/by-role.tsx')).AccountsByRole),
  },
  ...['', '/keys', '/budgets', '/usage', '/credit', '/alerts', '/alerts/attempts'].map((below) => ({
    path: `accounts/:account${below}`,
    loader: loadAccount,
    lazy: part(async () => (await import('./pages/granted/by-role.tsx')).AccountByRole),
  })),
  {
    path: 'accounts/:account/requests',
    loader: load,
    lazy: part(async () => (await import('./pages/granted/requests.tsx')).AccountRequestsPage),
  },
  {
    path: 'accounts/:account/batches',
    loader: load,
    lazy: part(async () => (await import('./pages/batches/batches.tsx')).AccountBatchesPage),
  },
  {
    path: 'accounts/:account/requests/:id',
    loader: load,
    lazy: part(async () => (await import('./pages/usage/request.tsx')).AccountRequestPage),
  },
  {
    path: 'invoices',
    loader: load,
    lazy: part(async () => (await import('./pages/invoices/invoices.tsx')).InvoicesPage),
  },
  {
    path: 'invoices/new',
    loader: load,
    lazy: part(async () => (await import('./pages/invoice/new-invoice.tsx')).NewInvoicePage),
  },
  {
    path: 'invoices/report',
    loader: load,
    lazy: part(async () => (await import('./pages/invoices/report.tsx')).InvoiceReportPage),
  },
  {
    path: 'invoices/unbilled',
    loader: load,
    lazy: part(async () => (await import('./pages/unbilled/unbilled.tsx')).UnbilledPage),
  },
  {
    path: 'invoices/:invoice',
    loader: load,
    lazy: part(async () => (await import('./pages/invoice/invoice.tsx')).InvoicePage),
  },
  {
    path: 'models',
    loader: load,
    lazy: part(async () => (await import('./pages/models/models.tsx')).ModelsPage),
  },
  {
    path: 'people',
    loader: load,
    lazy: part(async () => (await import('./pages/people/people.tsx')).PeoplePage),
  },
  {
    path: 'erasures',
    loader: load,
    lazy: part(async () => (await import('./pages/erasures/erasures.tsx')).ErasuresPage),
  },
  {
    path: 'templates',
    loader: load,
    lazy: part(async () => (await import('./pages/templates/templates.tsx')).TemplatesPage),
  },
  {
    path: 'usage',
    loader: load,
    lazy: part(async () => (await import('./pages/usage/usage.tsx')).UsagePage),
  },
  {
    path: 'usage/requests',
    loader: load,
    lazy: part(async () => (await import('./pages/usage/requests.tsx')).RequestsPage),
  },
  {
    path: 'usage/requests/:id',
    loader: load,
    lazy: part(async () => (await import('./pages/usage/request.tsx')).RequestPage),
  },
  {
    path: 'audit',
    loader: loadAudit,
    lazy: part(async () => (await import('./pages/audit/audit.tsx')).AuditPage),
  },
  {
    path: 'me',
    loader: loadMe,
    lazy: part(async () => (await import('./pages/me/me.tsx')).MePage),
  },
  { path: '*', loader: load, Component: RefusalPage },
]

const followMoves = numberPlaces()

export const router = createBrowserRouter([
  {
    Component: Shell,
    HydrateFallback: Nothing,
    children: [{ ErrorBoundary: RefusalPage, children: pages }],
  },
])
router.subscribe(followMoves)

/** Nothing is shown before the first page, whose data is already here. */
function Nothing() {
  return null
}
