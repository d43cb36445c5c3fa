import { join } from 'node:path'
import { openPagesStage } from './pages-stage.ts'
import type { Row } from './row.ts'

const rounds = 5
const perRound = 40
/** People who look at pages at the same time. */
const viewers = 2

/** The pages, and the most that the p95 of each may take, in ms. */
const pages = [
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
] as const

/**
 * The time until the data of a partner's pages has arrived, with a million ledger rows and 200 000 clients. Throws if a
 * response has another status than 200.
 */
export async function benchPages(): Promise<Row[]> {
  const stage = await openPagesStage(join(import.meta.dirname, 'data/pages'))
  try {
    const rows: Row[] = []
    for (const { name, path, atMost } of pages) {
      await timesOf(stage.get, path)
      const samples: number[] = []
      for (let round = 0; round < rounds; round++) samples.push(p95(await timesOf(stage.get, path)))
      console.log(`  ${name}: ${samples.map((ms) => Math.round(ms)).join(', ')} ms`)
      rows.push({ name: `page, ${name}: p95`, unit: 'ms', samples, goal: { atMost } })
    }
    return rows
  } finally {
    await stage.close()
  }
}

/** The times of one round of requests, in ms. */
async function timesOf(get: (path: string) => Promise<void>, path: string): Promise<number[]> {
  const times: number[] = []
  const view = async () => {
    while (times.length < perRound) {
      const started = performance.now()
      await get(path)
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: viewers }, view))
  return times
}

function p95(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN
}
