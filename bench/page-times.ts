import type { Row } from './row.ts'

/** A page, and the most that the p95 of its data may take, in ms. */
export interface TimedPage {
  readonly name: string
  readonly path: string
  readonly atMost: number
}

const rounds = 5
const perRound = 40
/** People who look at pages at the same time. */
export const viewers = 2

/** The data of a page as a request gets it, and its reads alone, each with as many callers at once as there are viewers. */
export interface PageSource {
  get(this: void, path: string): Promise<void>
  /** Default: the reads are not measured. */
  readsOf?(this: void, path: string): Promise<(viewer: number) => Promise<void>>
}

/** Measures the time until the data of each page has arrived and, in alternating rounds, that of its reads alone. */
export async function timePages({ get, readsOf }: PageSource, pages: readonly TimedPage[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name, path, atMost } of pages) {
    const page = () => get(path)
    await timesOf(page)
    const reads = await readsOf?.(path)
    if (reads) await timesOf(reads)
    const samples: number[] = []
    const ratios: number[] = []
    for (let round = 0; round < rounds; round++) {
      const sample = p95(await timesOf(page))
      samples.push(sample)
      if (reads) ratios.push(sample / p95(await timesOf(reads)))
    }
    console.log(`  ${name}: ${samples.map((ms) => Math.round(ms)).join(', ')} ms`)
    rows.push({ name: `page, ${name}: p95`, unit: 'ms', samples, goal: { atMost } })
    if (reads) rows.push({ name: `page ÷ its reads, ${name}: p95`, unit: '×', samples: ratios, goal: { atMost: 2 } })
  }
  return rows
}

/** The times of one round, in ms. */
async function timesOf(act: (viewer: number) => Promise<void>): Promise<number[]> {
  const times: number[] = []
  const view = async (viewer: number) => {
    while (times.length < perRound) {
      const started = performance.now()
      await act(viewer)
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: viewers }, (_, viewer) => view(viewer)))
  return times
}

export function p95(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? Number.NaN
}
