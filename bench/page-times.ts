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
const viewers = 2

/** Measures the time until the data of each page has arrived. */
export async function timePages(get: (path: string) => Promise<void>, pages: readonly TimedPage[]): Promise<Row[]> {
  const rows: Row[] = []
  for (const { name, path, atMost } of pages) {
    await timesOf(get, path)
    const samples: number[] = []
    for (let round = 0; round < rounds; round++) samples.push(p95(await timesOf(get, path)))
    console.log(`  ${name}: ${samples.map((ms) => Math.round(ms)).join(', ')} ms`)
    rows.push({ name: `page, ${name}: p95`, unit: 'ms', samples, goal: { atMost } })
  }
  return rows
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
