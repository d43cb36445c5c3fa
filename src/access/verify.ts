import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { checkOf, runChecks, type VerifyCheck } from '../platform/verify-checks.ts'
import { withSnapshot } from '../platform/database/snapshot-store.ts'
import type { Database } from '../platform/database/database.ts'
import { findMissingPartitions, readFacts, readFunctions } from './facts-store.ts'
import { changes } from './verify-store.ts'
import { readShippedFunctions } from './shipped-functions.ts'

/** Written by `node scripts/schema-facts.ts`. */
const expectedFacts = path.join(import.meta.dirname, 'schema-facts.txt')

/**
 * Compares the tables, triggers, row-level security, permissions and functions of the database with those of this
 * version, and checks the ledger's partitions.
 */
export async function verifySchema(database: Database): Promise<VerifyCheck[]> {
  const expected = (await readFile(expectedFacts, 'utf8')).trimEnd().split('\n')
  const shipped = await readShippedFunctions()
  return withSnapshot(database, async (tx) => [
    checkOf(
      'tables, triggers, row-level security and rights are as shipped',
      differences(expected, await readFacts(tx)),
    ),
    checkOf('the functions of the database are as shipped', changedFunctions(shipped, await readFunctions(tx))),
    checkOf('the ledger has its partitions', await findMissingPartitions(tx)),
  ])
}

function differences(expected: readonly string[], found: readonly string[]): object[] {
  const [known, there] = [new Set(expected), new Set(found)]
  return [
    ...expected.filter((fact) => !there.has(fact)).map((missing) => ({ missing })),
    ...found.filter((fact) => !known.has(fact)).map((unexpected) => ({ unexpected })),
  ]
}

function changedFunctions(
  shipped: ReadonlyMap<string, string>,
  found: readonly { readonly name: string; readonly body: string }[],
): object[] {
  const there = new Map(found.map(({ name, body }) => [name, body]))
  return [...shipped]
    .filter(([name, body]) => there.get(name) !== body)
    .map(([name]) => ({ function: name, fault: there.has(name) ? 'it was changed' : 'it is missing' }))
}

/** Checks that every change to what decides about money or access has its event in the audit log, and that no row changed otherwise. */
export function verifyChanges(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, changes)
}
