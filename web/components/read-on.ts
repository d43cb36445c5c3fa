import { read } from '../api.ts'
import type { Pages } from './joined.ts'

interface Reading<Page, Row> {
  readonly address: string
  /** The cursor of the next page. */
  readonly from: string
  readonly pick: (page: Page) => readonly Row[]
  readonly signal?: AbortSignal
}

/** Reads pages until one has a row: a page can be empty although others follow. */
export async function readOn<Page extends { readonly next: string | null }, Row>(
  reading: Reading<Page, Row>,
): Promise<Pages<Row>> {
  const { address, from, pick, signal } = reading
  const cursor = `${address.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(from)}`
  const page = await read<Page>(address + cursor, signal)
  const rows = pick(page)
  return rows.length > 0 || page.next === null ? { rows, next: page.next } : readOn({ ...reading, from: page.next })
}
