import type { Logger } from 'pino'
import { createAccess, type Visit } from '../access/access.ts'
import type { Audit } from '../access/audit.ts'
import type { Portal } from '../access/portal.ts'
import { createRecords, type Records } from '../clients/records.ts'
import type { Identities } from '../people/identities.ts'
import type { People, PersonSummary } from '../people/people.ts'
import { demoPeople } from './people.ts'
import { readSamples, type SampleClient } from './samples-file.ts'
import { inOneTransaction } from './samples-portal.ts'

/** What the samples are entered through: the doors that the portal uses. */
export interface SampleNeeds {
  readonly people: Pick<People, 'create' | 'list'>
  readonly identities: Pick<Identities, 'identify'>
  readonly audit: Pick<Audit, 'record'>
  /** The address of the database. */
  readonly databaseUrl: string
  readonly log: Logger
}

/**
 * Enters the people of the demo and their clients where there is nobody, and makes the people known by what the provider
 * of this issuer calls them. What was interrupted is completed by the next call. Once somebody has signed in, or where
 * there are other people, nothing is entered any more. Any number of instances may call it at the same time.
 */
export async function loadSamples(needs: SampleNeeds, issuer: string): Promise<void> {
  const { people, identities } = needs
  if (isUntouched(await people.list())) await inOneTransaction(needs, (portal) => enterAll(needs, portal))
  for (const { id, email } of await people.list()) {
    const subject = demoPeople.find((person) => person.email === email)?.subject
    if (subject !== undefined) await identities.identify(id, { issuer, subject })
  }
}

/** Whether there is nobody, or those of the demo alone, who have not been here yet. */
function isUntouched(people: readonly PersonSummary[]): boolean {
  return people.every(
    ({ email, lastSignedInAt }) => lastSignedInAt === null && demoPeople.some((person) => person.email === email),
  )
}

/** Alone, since there is one such transaction at a time. */
async function enterAll({ people, audit }: SampleNeeds, portal: Portal): Promise<void> {
  const known = await people.list()
  const records = createRecords({ access: createAccess({ portal, audit }) })
  const isEmpty = (await records.counts(operator)).size === 0
  for (const { subject, name, email, role } of demoPeople) {
    const person = known.find((each) => each.email === email) ?? (await people.create({ name, email, role }))
    const samples = isEmpty ? await readSamples(subject, new Date()) : []
    for (const sample of samples) await enter(records, { person }, sample)
  }
}

/** The operator at the command line, who sees every record. */
const operator: Visit = { person: { id: null, role: 'partner' } }

/** Enters a client, with what its record holds, as the person of the visit would. */
async function enter(
  { clients, notes, disputes, letters }: Records,
  visit: Visit,
  sample: SampleClient,
): Promise<void> {
  const { name, reference, email, archived } = sample
  const { id, version } = await clients.create(visit, { name, reference, email })
  for (const note of sample.notes) await notes.create(visit, id, note)
  for (const dispute of sample.disputes) await disputes.create(visit, id, dispute)
  for (const letter of sample.letters) await letters.create(visit, id, letter)
  if (archived) await clients.change(visit, id, { basis: [version], body: { status: 'archived' } })
}
