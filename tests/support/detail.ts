import { test, type TestContext, type TestOptions } from 'node:test'
import { isEndure } from './draws.ts'

type Run = (context: TestContext) => Promise<void> | void

/**
 * A test that only `npm run endure` runs, because it starts processes or a browser for seconds: it shows a detail of something
 * whose main case another test proves in `npm test`.
 */
export function detail(title: string, ...rest: readonly [Run] | readonly [TestOptions, Run]): void {
  if (!isEndure) return
  const [options, run] = rest.length === 1 ? [{}, rest[0]] : rest
  void test(title, options, run)
}
