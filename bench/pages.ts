import { join } from 'node:path'
import { Client } from 'pg'
import { timePages, viewers, type TimedPage } from './page-times.ts'
import { openPagesStage } from './pages-stage.ts'
import { captureReads, replay } from './replayed-statements.ts'
import type { Row } from './row.ts'
import { superuserUrl } from './tollgate.ts'

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
 * The time until the data of a partner's pages has arrived, with a million ledger rows and 200 000 clients, also as a multiple of what the
 * same reads take when a client of the database sends them. Throws if a response has another status than 200.
 */
export async function benchPages(): Promise<Row[]> {
  const stage = await openPagesStage(join(import.meta.dirname, 'data/pages'))
  const url = await superuserUrl(stage.installation.environment)
  const clients = Array.from({ length: viewers }, () => new Client({ connectionString: url }))
  const log = join(stage.installation.environment['TOLLGATE_DATA'] ?? '', 'postgres.log')
  /** The reads of a page as a program for SQL would send them: planned each time, over a connection of their own. */
  async function readsOf(path: string) {
    const [first] = clients
    if (first === undefined) throw new Error('There are no viewers.')
    const reads = await captureReads({ client: first, log, act: () => stage.get(path) })
    console.log(`  ${path}: ${reads.map((part) => part.length).join(' and ')} reads`)
    return async (viewer: number) => {
      const client = clients[viewer]
      if (client) await replay(client, reads)
    }
  }
  try {
    for (const client of clients) await client.connect()
    return await timePages({ get: stage.get, readsOf }, pages)
  } finally {
    for (const client of clients) await client.end()
    await stage.close()
  }
}
