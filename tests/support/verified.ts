import assert from 'node:assert/strict'
import { verifyAll } from '../../src/commands/verification.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { fixture } from './fixture.ts'

/** Asserts that no check of a verification failed. */
export function assertVerified(checks: readonly { readonly ok: boolean }[]): void {
  const faults = checks.filter(({ ok }) => !ok)
  assert.deepEqual(faults, [])
}

/** Lets `verify` check everything in the database after the tests of a file. */
export function verifyAtEnd(database: () => Database): void {
  fixture(() => ({ close: async () => assertVerified(await verifyAll(database())) }))
}
