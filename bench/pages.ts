import { join } from 'node:path'
import { timePages, type TimedPage } from './page-times.ts'
import { openPagesStage } from './pages-stage.ts'
import type { Row } from './row.ts'

const pages: readonly TimedPage[] = [
  { name: 'overview of the firm', path: '/', atMost: 100 },
  { name: 'usage of the firm, 30 days', path: '/usage?from=2026-02-01&to=2026-03-02', atMost: 100 },
  { name: 'usage of an account, 30 days', path: '/usage?from=2026-02-01&to=2026-03-02&account=ACCOUNT', atMost: 100 },
  { name: 'requests of the firm', path: '/usage/requests?from=2026-02-01&to=2026-03-02', atMost: 100 },
  {
    name: 'requests of an account',
    path: '/usage/requests?from=2026-02-01&to=2026-03-02&account=ACCOUNT',
    atMost: 100,
  },
  { name: 'palette, a name', path: '/search?q=lindq&limit=3', atMost: 50 },
  { name: 'palette, the middle of a word', path: '/search?q=ndqvi&limit=3', atMost: 50 },
  { name: 'palette, a reference without punctuation', path: '/search?q=C000123&limit=3', atMost: 50 },
  { name: 'palette, a misspelt name', path: '/search?q=lnidqvist%20hlom%20c4ca42&limit=3', atMost: 50 },
]

/**
 * The time until the data of a partner's pages has arrived, with a million ledger rows and 200 000 clients. Throws if a
 * response has another status than 200.
 */
export async function benchPages(): Promise<Row[]> {
  const stage = await openPagesStage(join(import.meta.dirname, 'data/pages'))
  try {
    return await timePages(stage.get, pages)
  } finally {
    await stage.close()
  }
}
