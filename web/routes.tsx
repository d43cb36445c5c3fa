import { createBrowserRouter, type LoaderFunctionArgs } from 'react-router'
import { read } from './api.ts'
import { Shell } from './components/shell.tsx'
import { RefusalPage } from './pages/refusal/refusal.tsx'

/** A page shows what its own address answers as JSON. */
function load({ request }: LoaderFunctionArgs): Promise<unknown> {
  const { pathname, search } = new URL(request.url)
  return read(pathname + search, request.signal)
}

function loadRecord({ params, request }: LoaderFunctionArgs): Promise<unknown> {
  return read(`/clients/${params['client'] ?? ''}`, request.signal)
}

async function loadItem({ params, request }: LoaderFunctionArgs): Promise<unknown> {
  const { pathname } = new URL(request.url)
  const address = pathname.replace(/\/revisions$/, '')
  const [item, { revisions }] = await Promise.all([
    read(address, request.signal),
    read<{ revisions: unknown }>(`${address}/revisions`, request.signal),
  ])
  return { item, revisions, noun: params['noun'] }
}

const records = {
  path: 'clients/:client',
  id: 'record',
  loader: loadRecord,
  lazy: async () => ({ Component: (await import('./pages/record/record.tsx')).RecordPage }),
  children: [
    { index: true, lazy: async () => ({ Component: (await import('./pages/record/notes.tsx')).Notes }) },
    { path: 'notes', lazy: async () => ({ Component: (await import('./pages/record/notes.tsx')).Notes }) },
    { path: 'disputes', lazy: async () => ({ Component: (await import('./pages/record/disputes.tsx')).Disputes }) },
    { path: 'letters', lazy: async () => ({ Component: (await import('./pages/record/letters.tsx')).Letters }) },
    {
      path: 'activity',
      loader: load,
      lazy: async () => ({ Component: (await import('./pages/record/activity.tsx')).ActivityTab }),
    },
    {
      path: 'revisions',
      loader: load,
      lazy: async () => ({ Component: (await import('./pages/record/revisions.tsx')).RecordRevisions }),
    },
    ...['', '/revisions'].map((rest) => ({
      path: `:noun/:item${rest}`,
      loader: loadItem,
      lazy: async () => ({ Component: (await import('./pages/record/item.tsx')).ItemPage }),
    })),
  ],
}

const pages = [
  {
    path: 'clients',
    loader: load,
    lazy: async () => ({ Component: (await import('./pages/clients/clients.tsx')).ClientsPage }),
  },
  records,
  {
    path: 'search',
    loader: load,
    lazy: async () => ({ Component: (await import('./pages/search/search.tsx')).SearchPage }),
  },
  {
    path: 'people',
    loader: load,
    lazy: async () => ({ Component: (await import('./pages/people/people.tsx')).PeoplePage }),
  },
  {
    path: 'audit',
    loader: load,
    lazy: async () => ({ Component: (await import('./pages/audit/audit.tsx')).AuditPage }),
  },
  {
    path: 'me',
    loader: load,
    lazy: async () => ({ Component: (await import('./pages/me/me.tsx')).MePage }),
  },
  { path: '*', loader: load, Component: RefusalPage },
]

export const router = createBrowserRouter([
  {
    path: 'signin',
    loader: load,
    ErrorBoundary: RefusalPage,
    HydrateFallback: Nothing,
    lazy: async () => ({ Component: (await import('./pages/sign-in/sign-in.tsx')).SignInPage }),
  },
  {
    Component: Shell,
    HydrateFallback: Nothing,
    children: [{ ErrorBoundary: RefusalPage, children: pages }],
  },
])

/** Between the first paint and the first page there is nothing to see: the data came with the page. */
function Nothing() {
  return null
}
