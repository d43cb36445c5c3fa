import { test } from 'node:test'
import { isEndure } from './draws.ts'

/**
 * A test that only `npm run endure` runs, because it takes seconds of a browser: it shows a detail of a page whose main steps a
 * test beside it takes in `npm test`.
 */
export function detail(title: string, run: () => Promise<void>): void {
  if (isEndure) void test(title, run)
}
