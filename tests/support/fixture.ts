import assert from 'node:assert/strict'
import { AsyncResource } from 'node:async_hooks'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before } from 'node:test'

interface Closable {
  close?(): unknown
  drop?(): unknown
}

/** What is open at the moment, the newest last. */
const stack: Closable[] = []
let last: Promise<unknown> = Promise.resolve()

/** Does some work before the tests of a file or a suite, after what was declared earlier: the runner begins the hooks of a file without waiting for one another. */
export function setUp(work: () => unknown): void {
  before(() => {
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  })
}

/**
 * Something that the tests of a file or a suite share. It is opened before the first of them, after what was declared earlier, and closed after the last one and its
 * `after` hooks, the newest first, even if something that was declared later cannot be opened.
 */
export function fixture<T extends object>(open: () => T | Promise<T>): T
export function fixture(open: () => Closable | Promise<Closable>): object {
  let value: Closable | undefined
  // Hooks that are added while another one runs would belong to that.
  const suite = new AsyncResource('suite')
  setUp(async () => {
    const own = (value = await open())
    stack.push(own)
    suite.runInAsyncScope(() =>
      after(async () => {
        while (stack.includes(own)) await closeLast()
      }),
    )
  })
  const current = () => value ?? assert.fail('it is not open yet')
  return new Proxy(
    {},
    {
      get(_, name): unknown {
        const found: unknown = Reflect.get(current(), name, current())
        return typeof found === 'function'
          ? (...args: unknown[]): unknown => Reflect.apply(found, current(), args)
          : found
      },
      set: (_, name, changed) => Reflect.set(current(), name, changed),
      has: (_, name) => name in current(),
      ownKeys: () => Reflect.ownKeys(current()),
      getOwnPropertyDescriptor(_, name) {
        const found = Reflect.getOwnPropertyDescriptor(current(), name)
        return found && { ...found, configurable: true }
      },
    },
  )
}

/** `close` of some things takes what is to be closed. */
async function closeLast(): Promise<void> {
  const newest = stack.pop()
  await (newest?.close?.length === 0 ? newest.close() : newest?.drop?.())
}

/** A new folder for the tests of a file or a suite. It is removed after them. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-test-'))
  fixture(() => ({ close: () => rm(folder, { recursive: true, force: true }) }))
  return folder
}
