import { randomUUIDv7 } from 'node:crypto'
import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { readEmail } from '../people/email.ts'
import { quoted } from '../platform/one-line.ts'
import type { People } from '../people/people.ts'
import type { LineFault } from './csv.ts'
import { readClientFile, type ImportedClient } from './import-file.ts'
import { findTwins, insertClients, type ImportRow } from './import-store.ts'

export type { LineFault } from './csv.ts'

export interface ImportOptions {
  /** To whom those belong whose line names nobody: an e-mail address. */
  readonly consultant?: string | undefined
  /** Only says what would come of it. */
  readonly dryRun?: boolean | undefined
}

export interface ImportResult {
  /** How many were imported, or would be: none while there are faults. */
  readonly imported: number
  /** Every line at fault, in their order. */
  readonly faults: readonly LineFault[]
}

interface ImportNeeds {
  readonly access: RecordAccess
  readonly people: Pick<People, 'byEmail'>
}

/**
 * Imports a CSV file of clients, all of them or, when one line is wrong, none. A client who is there already (the same
 * reference, or without one the same name, of the same consultant) is a fault, so that a file is not imported twice.
 */
export async function importClients(
  { access, people }: ImportNeeds,
  visit: Visit,
  bytes: Uint8Array,
  { consultant, dryRun = false }: ImportOptions = {},
): Promise<ImportResult> {
  const file = readClientFile(bytes)
  const ids = await consultantsOf(people, file.clients, consultant)
  const resolved = file.clients.map((client) => resolve(client, ids, consultant))
  const rows = resolved.flatMap((each) => ('reason' in each ? [] : [each]))
  const twins = [...twinsWithin(rows), ...(await twinsBefore(access, visit, rows))]
  const wrong = resolved.flatMap((each) => ('reason' in each ? [each] : []))
  const faults = [...file.faults, ...wrong, ...twins].toSorted((a, b) => a.line - b.line)
  if (faults.length > 0) return { imported: 0, faults }
  if (!dryRun && rows.length > 0) await access.as(visit, [insertClients(visit, rows)])
  return { imported: rows.length, faults }
}

/** The ids of the people whom the file names, by their address as it stands there; undefined for nobody. */
async function consultantsOf(
  people: ImportNeeds['people'],
  clients: readonly ImportedClient[],
  usual: string | undefined,
): Promise<ReadonlyMap<string, string | undefined>> {
  const named = new Set(clients.flatMap((client) => client.consultant ?? usual ?? []))
  const found = new Map<string, string | undefined>()
  for (const email of named) {
    const person = await people.byEmail(email)
    found.set(email, person?.status === 'active' ? person.id : undefined)
  }
  return found
}

function resolve(
  { line, name, reference, email, consultant }: ImportedClient,
  ids: ReadonlyMap<string, string | undefined>,
  usual: string | undefined,
): ImportRow | LineFault {
  if (email !== null && readEmail(email) === undefined) return { line, reason: `${quoted(email)} is no e-mail address` }
  const named = consultant ?? usual
  if (named === undefined) return { line, reason: 'it names no consultant: fill in that column, or use --consultant' }
  const consultantId = ids.get(named)
  if (consultantId === undefined) return { line, reason: `nobody who may sign in has the address ${quoted(named)}` }
  return { line, id: randomUUIDv7(), name, reference, email, consultant_id: consultantId }
}

/** Lines that say the same as an earlier one. */
function twinsWithin(rows: readonly ImportRow[]): LineFault[] {
  const first = new Map<string, number>()
  return rows.flatMap(({ line, name, reference, consultant_id }) => {
    const key = JSON.stringify([
      consultant_id,
      reference?.toLowerCase() ?? null,
      reference === null ? name.toLowerCase() : '',
    ])
    const earlier = first.get(key)
    if (earlier === undefined) {
      first.set(key, line)
      return []
    }
    return [{ line, reason: `it is the same client as on line ${earlier}` }]
  })
}

async function twinsBefore(access: RecordAccess, visit: Visit, rows: readonly ImportRow[]): Promise<LineFault[]> {
  const [found] = await access.as(visit, [findTwins(rows)])
  return found.map(({ line, name }) => ({ line, reason: `${quoted(name)} is a client already` }))
}
