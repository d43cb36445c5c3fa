import { randomUUIDv7 } from 'node:crypto'
import { lockAssignments, type RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { readEmail } from '../../people/email.ts'
import { quoted } from '../../platform/text/one-line.ts'
import type { People } from '../../people/people.ts'
import type { LineFault } from '../../platform/text/csv-records.ts'
import { readClientFile, type ImportedClient } from './file.ts'
import { findRepeats, insertClients, type ImportRow } from './store.ts'

export type { LineFault } from '../../platform/text/csv-records.ts'

export interface ImportOptions {
  /** The email address of the consultant for lines without one. */
  readonly consultant?: string | undefined
  /** Checks the file without importing it. */
  readonly dryRun?: boolean | undefined
}

export interface ImportResult {
  /** The number of clients imported, or that a dry run would import; 0 if there are faults. */
  readonly imported: number
  /** All faults, in the order of the lines. */
  readonly faults: readonly LineFault[]
}

interface ImportNeeds {
  readonly access: RecordAccess
  readonly people: Pick<People, 'byEmail'>
}

/**
 * Imports a CSV file of clients: all of them, or none if a line is wrong. An existing client of the same consultant (the
 * same reference, or the same name without a reference) is a fault, so that no file is imported twice.
 */
export async function importClients(
  needs: ImportNeeds,
  visit: Visit,
  bytes: Uint8Array,
  options: ImportOptions = {},
): Promise<ImportResult> {
  const { access, people } = needs
  const { consultant, dryRun = false } = options
  const file = readClientFile(bytes)
  const ids = await consultantsOf(people, file.clients, consultant)
  const resolved = file.clients.map((client) => resolve(client, ids, consultant))
  const rows = resolved.flatMap((each) => ('reason' in each ? [] : [each]))
  const repeated = await repeatedClients(access, visit, rows)
  const wrong = resolved.flatMap((each) => ('reason' in each ? [each] : []))
  const faults = [...file.faults, ...wrong, ...repeated].toSorted((a, b) => a.line - b.line)
  if (faults.length > 0) return { imported: 0, faults }
  if (!dryRun && rows.length > 0) {
    const lock = lockAssignments(...new Set(rows.map((row) => row.consultant_id)))
    const [, inserted] = await access.as(visit, [lock, insertClients(visit, rows)])
    // A consultant has left since the check. Another check names the lines.
    if (inserted.length === 0) return importClients(needs, visit, bytes, options)
  }
  return { imported: rows.length, faults }
}

/** The ids of active people by the email addresses in the file; undefined for an unknown address. */
async function consultantsOf(
  people: ImportNeeds['people'],
  clients: readonly ImportedClient[],
  fallback: string | undefined,
): Promise<ReadonlyMap<string, string | undefined>> {
  const named = new Set(clients.flatMap((client) => client.consultant ?? fallback ?? []))
  const found = new Map<string, string | undefined>()
  for (const email of named) {
    const person = await people.byEmail(email)
    found.set(email, person?.status === 'active' ? person.id : undefined)
  }
  return found
}

function resolve(
  { consultant, ...client }: ImportedClient,
  ids: ReadonlyMap<string, string | undefined>,
  fallback: string | undefined,
): ImportRow | LineFault {
  const { line, email } = client
  if (email !== null && readEmail(email) === undefined)
    return { line, reason: `${quoted(email)} is not an email address` }
  const named = consultant ?? fallback
  if (named === undefined) return { line, reason: 'the consultant is missing: fill in the column, or use --consultant' }
  const consultantId = ids.get(named)
  if (consultantId === undefined) return { line, reason: `no active person has the address ${quoted(named)}` }
  return { ...client, id: randomUUIDv7(), consultant_id: consultantId }
}

/** Lines that repeat a client of the consultant or of an earlier line. */
async function repeatedClients(access: RecordAccess, visit: Visit, rows: readonly ImportRow[]): Promise<LineFault[]> {
  const [found] = await access.as(visit, [findRepeats(rows)])
  return found.flatMap(({ line, name, exists, first }) => [
    ...(first < line ? [{ line, reason: `this is the same client as in line ${first}` }] : []),
    ...(exists ? [{ line, reason: `the client ${quoted(name)} already exists` }] : []),
  ])
}
