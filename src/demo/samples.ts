import type { Logger } from 'pino'
import { createAccess } from '../access/access.ts'
import { byService, personActor, type Visit } from '../access/actor.ts'
import type { Audit } from '../access/audit.ts'
import type { PortalDatabase } from '../access/portal.ts'
import { createRecords, type Records } from '../clients/records.ts'
import { createTemplates, type Templates } from '../drafting/templates.ts'
import type { Identities } from '../people/identities.ts'
import type { People } from '../people/people.ts'
import type { PersonSummary } from '../people/person.ts'
import { demoPeople } from './people.ts'
import { readSamples, readSampleTemplates, type Entered, type SampleClient } from './samples-file.ts'
import { timeBefore } from './sample-dates.ts'
import { inOneTransaction } from './samples-portal.ts'

/** The entry points of the portal through which the samples are entered. */
export interface SampleNeeds {
  readonly people: Pick<People, 'create' | 'list'>
  readonly identities: Pick<Identities, 'identify'>
  readonly audit: Pick<Audit, 'record'>
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
async function enterAll(
  { people, audit }: SampleNeeds,
  portal: PortalDatabase,
  setTime: (time: Date) => void,
): Promise<void> {
  const known = await people.list()
  const access = createAccess({ portal, audit })
  const records = createRecords({ access, currency: noCurrency })
  const isEmpty = (await records.counts(byService)).size === 0
  const steps: Step[] = []
  for (const { subject, name, email, role } of demoPeople) {
    const person = known.find((each) => each.email === email) ?? (await people.create({ name, email, role }, byService))
    const samples = isEmpty ? await readSamples(subject, new Date()) : []
    const visit = { actor: personActor(person) }
    steps.push(...samples.flatMap((sample) => stepsOf(records, visit, sample)))
    if (isEmpty && role === 'partner') steps.push(...(await templateSteps(createTemplates({ access }), visit)))
  }
  // In chronological order, like the audit log.
  for (const { at, take } of steps.toSorted((one, other) => one.at.getTime() - other.at.getTime())) {
    setTime(at)
    await take()
  }
}

type Items = Records['notes']

interface Step {
  readonly at: Date
  take(this: void): Promise<void>
}

/** The steps that save the firm's instructions, a year before today. */
async function templateSteps(templates: Templates, visit: Visit): Promise<Step[]> {
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
  { clients, notes, disputes, letters, timeEntries, expenses }: Records,
  visit: Visit,
  sample: SampleClient,
): Step[] {
  const { name, reference, email, address, archivedAt } = sample
  let id = ''
  const made: Step = {
    at: sample.at,
    async take() {
      ;({ id } = await clients.create(visit, { name, reference, email, address }))
    },
  }
  const items = (kind: Items, all: readonly Entered<object>[]) =>
    all.flatMap((entered) => itemSteps(kind, visit, () => id, entered))
  return [
    made,
    ...items(notes, sample.notes),
    ...items(disputes, sample.disputes),
    ...items(letters, sample.letters),
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

function itemSteps(items: Items, visit: Visit, clientId: () => string, { at, body, later }: Entered<object>): Step[] {
  let id = ''
  const made: Step = {
    at,
    async take() {
      ;({ id } = await items.create(visit, clientId(), { ...body }))
    },
  }
  if (later === undefined) return [made]
  const changed: Step = {
    at: later.at,
    async take() {
      await items.change(visit, clientId(), id, { basis: null, body: { ...later.body } })
    },
  }
  return [made, changed]
}
