import type { Logger } from 'pino'
import { createAccess } from '../access/access.ts'
import { byService, personActor, type Visit } from '../access/actor.ts'
import type { Audit } from '../access/audit/audit.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { Keys } from '../accounts/keys/keys.ts'
import type { PortalDatabase } from '../access/portal/portal.ts'
import { createRecords, type Records } from '../clients/records.ts'
import { createTemplates, type Templates } from '../drafting/templates.ts'
import type { Identities } from '../people/identities.ts'
import type { People } from '../people/people.ts'
import type { Config } from '../platform/config/config.ts'
import type { Database } from '../platform/database/database.ts'
import type { PersonSummary } from '../people/person.ts'
import { demoPeople } from './people.ts'
import { timeBefore, type SampleStep } from './sample-dates.ts'
import { invoiceSteps } from './sample-invoices.ts'
import { readSamples, readSampleTemplates, type EnteredItem, type SampleClient } from './samples-file.ts'
import { inOneTransaction } from './samples-portal.ts'

/** The entry points of the portal through which the samples are entered. */
export interface SampleNeeds {
  readonly people: Pick<People, 'create' | 'list'>
  readonly identities: Pick<Identities, 'identify'>
  readonly audit: Pick<Audit, 'record'>
  readonly accounts: Pick<Accounts, 'create' | 'list' | 'setBilling'>
  readonly keys: Pick<Keys, 'create'>
  readonly database: Database
  /** With the demo's firm, whose invoices are entered. */
  readonly config: Config
  /** The address of the database. */
  readonly databaseUrl: string
  readonly log: Logger
}

/**
 * Enters the demo's people and their clients into an empty database, and links the people to their subjects at this
 * issuer. An interrupted call is completed by the next one. Does not enter anything once a person has signed in, even during
 * the call, or if there are other people. Instances may call it concurrently.
 */
export async function loadSamples(needs: SampleNeeds, issuer: string): Promise<void> {
  const { people, identities, log } = needs
  if (isUntouched(await people.list())) {
    await inOneTransaction(needs, (portal, setTime) => enterAll(needs, portal, setTime)).catch(
      async (error: unknown) => {
        // The database refuses samples once a person has signed in. That must not end the service.
        if (isUntouched(await people.list())) throw error
        log.warn('Somebody signed in before all samples were entered, so there are none.')
      },
    )
  }
  for (const { id, email } of await people.list()) {
    const subject = demoPeople.find((person) => person.email === email)?.subject
    if (subject !== undefined) await identities.identify(id, { issuer, subject })
  }
}

/** Whether there are no people except the demo's, none of whom has signed in. */
function isUntouched(people: readonly PersonSummary[]): boolean {
  return people.every(
    ({ email, lastSignedInAt }) => lastSignedInAt === null && demoPeople.some((person) => person.email === email),
  )
}

/** ISO 4217's code for no currency: entering samples displays no amount. */
const noCurrency = 'XXX'

/** Needs no lock of its own, since only one such transaction runs at a time. */
async function enterAll(needs: SampleNeeds, portal: PortalDatabase, setTime: (time: Date) => void): Promise<void> {
  const { people, audit } = needs
  const known = await people.list()
  const access = createAccess({ portal, audit })
  const records = createRecords({ access, currency: noCurrency })
  const isEmpty = (await records.counts(byService)).size === 0
  const steps: SampleStep[] = []
  let partner: Visit | undefined
  /** By their references. */
  const clientIds = new Map<string, string>()
  for (const { subject, name, email, role } of demoPeople) {
    const person = known.find((each) => each.email === email) ?? (await people.create({ name, email, role }, byService))
    const samples = isEmpty ? await readSamples(subject, new Date()) : []
    const visit = { actor: personActor(person) }
    steps.push(...samples.flatMap((sample) => stepsOf(records, visit, sample, clientIds)))
    if (isEmpty && role === 'partner') {
      steps.push(...(await templateSteps(createTemplates({ access }), visit)))
      partner = visit
    }
  }
  if (partner) steps.push(...(await invoiceSteps({ ...needs, access, visit: partner, clientIds })))
  // In chronological order, like the audit log.
  for (const { at, take } of steps.toSorted((one, other) => one.at.getTime() - other.at.getTime())) {
    setTime(at)
    await take()
  }
}

type Items = Records['notes']

/** The steps that save the firm's instructions, a year before today. */
async function templateSteps(templates: Templates, visit: Visit): Promise<SampleStep[]> {
  const at = timeBefore(new Date(), 365, 0)
  return (await readSampleTemplates()).map((template) => ({
    at,
    async take() {
      await templates.create(visit, template)
    },
  }))
}

/** The person's steps that create the client and its record, each at its time. */
function stepsOf(
  { clients, contacts, notes, disputes, letters, tasks, timeEntries, expenses }: Records,
  visit: Visit,
  sample: SampleClient,
  clientIds: Map<string, string>,
): SampleStep[] {
  const { name, reference, email, address, archivedAt } = sample
  let id = ''
  const made: SampleStep = {
    at: sample.at,
    async take() {
      ;({ id } = await clients.create(visit, { name, reference, email, address }))
      clientIds.set(reference, id)
    },
  }
  const items = (kind: Items, all: readonly EnteredItem<object>[]) =>
    all.flatMap((entered) => itemSteps(kind, visit, () => id, entered))
  return [
    made,
    ...items(contacts, sample.contacts),
    ...items(notes, sample.notes),
    ...items(disputes, sample.disputes),
    ...items(letters, sample.letters),
    ...items(tasks, sample.tasks),
    ...items(timeEntries, sample.time),
    ...items(expenses, sample.expenses),
    ...(archivedAt === undefined
      ? []
      : [
          {
            at: archivedAt,
            async take() {
              await clients.change(visit, id, { basis: null, body: { status: 'archived' } })
            },
          },
        ]),
  ]
}

function itemSteps(
  items: Items,
  visit: Visit,
  clientId: () => string,
  { at, body, later }: EnteredItem<object>,
): SampleStep[] {
  let id = ''
  const made: SampleStep = {
    at,
    async take() {
      ;({ id } = await items.create(visit, clientId(), { ...body }))
    },
  }
  if (later === undefined) return [made]
  const changed: SampleStep = {
    at: later.at,
    async take() {
      await items.change(visit, clientId(), id, { basis: null, body: { ...later.body } })
    },
  }
  return [made, changed]
}
