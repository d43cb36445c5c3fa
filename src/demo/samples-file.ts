import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Type, type Static, type TProperties, type TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { parse } from 'yaml'
import { datesIn, dayAfter, dayBefore, timeBefore } from './sample-dates.ts'

/** The sample clients as written in `samples/`, with dates relative to the first start. */

const object = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })
const ago = Type.Integer({ minimum: 1 })

const writtenNote = object({ ago, participants: Type.Array(Type.String()), text: Type.String() })
const writtenDispute = object({
  ago,
  invoice: Type.String(),
  amount: Type.String({ pattern: '^\\d+\\.\\d\\d$' }),
  status: Type.Enum(['open', 'settled', 'withdrawn']),
  /** Days from the first start to the deadline. */
  due_in: Type.Optional(Type.Integer({ minimum: 0 })),
  position: Type.String(),
})
const writtenLetter = object({
  ago,
  subject: Type.String(),
  status: Type.Enum(['draft', 'approved', 'sent']),
  body: Type.String(),
})
const writtenTask = object({
  ago,
  title: Type.String(),
  /** Days from the first start to the day by which it is to be done. */
  due_in: Type.Optional(Type.Integer()),
  priority: Type.Optional(Type.Enum(['high', 'low'])),
  status: Type.Optional(Type.Literal('done')),
})
const price = Type.String({ pattern: '^\\d+\\.\\d\\d$' })
const writtenTime = object({ ago, minutes: Type.Integer({ minimum: 1 }), rate: price, text: Type.String() })
const writtenExpense = object({ ago, amount: price, text: Type.String() })
const writtenContact = object({
  name: Type.String(),
  job_title: Type.Optional(Type.String()),
  email: Type.Optional(Type.String()),
  phone: Type.Optional(Type.String()),
  language: Type.Optional(Type.String()),
})
const writtenClient = object({
  name: Type.String(),
  reference: Type.String(),
  email: Type.String(),
  /** The lines of the postal address. */
  address: Type.Array(Type.String(), { minItems: 1, maxItems: 8 }),
  status: Type.Optional(Type.Literal('archived')),
  contacts: Type.Optional(Type.Array(writtenContact)),
  notes: Type.Optional(Type.Array(writtenNote)),
  disputes: Type.Optional(Type.Array(writtenDispute)),
  letters: Type.Optional(Type.Array(writtenLetter)),
  tasks: Type.Optional(Type.Array(writtenTask)),
  time: Type.Optional(Type.Array(writtenTime)),
  expenses: Type.Optional(Type.Array(writtenExpense)),
})
const written = Type.Array(writtenClient)
type WrittenClient = Static<typeof writtenClient>

/** An item with the time at which it is entered, and a later change if any. */
export interface EnteredItem<Body> {
  readonly at: Date
  readonly body: Body
  readonly later?: { readonly at: Date; readonly body: Partial<Body> }
}

/** A sample client and its record, oldest first. */
export interface SampleClient {
  readonly name: string
  readonly reference: string
  readonly email: string
  readonly address: string
  readonly at: Date
  /** Undefined for an active client. */
  readonly archivedAt: Date | undefined
  readonly contacts: readonly EnteredItem<Static<typeof writtenContact>>[]
  readonly notes: readonly EnteredItem<Omit<Static<typeof writtenNote>, 'ago'> & { readonly date: string }>[]
  readonly disputes: readonly EnteredItem<
    Omit<Static<typeof writtenDispute>, 'ago' | 'due_in'> & { readonly due: string | null }
  >[]
  readonly letters: readonly EnteredItem<Omit<Static<typeof writtenLetter>, 'ago'>>[]
  readonly tasks: readonly EnteredItem<{
    readonly title: string
    readonly due: string | null
    readonly priority?: 'high' | 'low'
    readonly status: 'open' | 'done'
  }>[]
  readonly time: readonly EnteredItem<Omit<Static<typeof writtenTime>, 'ago'> & { readonly date: string }>[]
  readonly expenses: readonly EnteredItem<Omit<Static<typeof writtenExpense>, 'ago'> & { readonly date: string }>[]
}

/** The sample clients of one person of the demo's firm, dated as seen from `now`. */
export async function readSamples(subject: string, now: Date): Promise<SampleClient[]> {
  const file = path.join(import.meta.dirname, 'samples', `${subject}.yaml`)
  const content = await contentOf(file, written)
  return content.map((client) => dated(client, now))
}

const writtenTemplate = object({
  kind: Type.String(),
  name: Type.String(),
  instructions: Type.String(),
  is_default: Type.Boolean(),
})
const writtenTemplates = Type.Array(writtenTemplate)

/** The templates of the demo's firm. */
export async function readSampleTemplates(): Promise<Static<typeof writtenTemplates>> {
  return contentOf(path.join(import.meta.dirname, 'samples', 'templates.yaml'), writtenTemplates)
}

const writtenInvoice = object({
  /** The reference of the client. */
  client: Type.String(),
  /** Days from its issue, or from its creation if it is a draft, to the first start. */
  ago,
  status: Type.Enum(['draft', 'open', 'paid']),
  /** Days from the payment of all of it to the first start. */
  paid_ago: Type.Optional(ago),
  lines: Type.Array(
    object({
      text: Type.String(),
      quantity: Type.String(),
      unit: Type.Enum(['hour', 'lump_sum', 'piece', 'month']),
      unit_price: Type.String(),
    }),
  ),
})
const writtenInvoices = Type.Array(writtenInvoice)

/** The invoices to sample clients, dated as seen from `now`. */
export async function readSampleInvoices(now: Date) {
  const all = await contentOf(path.join(import.meta.dirname, 'samples', 'invoices.yaml'), writtenInvoices)
  return all.map(({ ago: days, lines, ...rest }) => {
    const tell = datesIn(now, days)
    return { ...rest, ago: days, lines: lines.map((line) => ({ ...line, text: tell(line.text) })) }
  })
}

async function contentOf<Schema extends TSchema>(file: string, schema: Schema): Promise<Static<Schema>> {
  const content: unknown = parse(await readFile(file, 'utf8'))
  if (!Value.Check(schema, content)) throw new Error(`${file}: ${JSON.stringify(Value.Errors(schema, content)[0])}`)
  return content
}

function dated(client: WrittenClient, now: Date): SampleClient {
  const {
    name,
    reference,
    email,
    address,
    contacts = [],
    notes = [],
    disputes = [],
    letters = [],
    tasks = [],
    time = [],
    expenses = [],
  } = client
  // A number that is the same at every start, so that times of day vary.
  const seed = Number(reference.replaceAll(/\D/g, ''))
  const ages = [...notes, ...disputes, ...letters, ...tasks, ...time, ...expenses].map(({ ago: days }) => days)
  const first = Math.max(...ages, ages.length === 0 ? 20 + (seed % 150) : 0)
  const morning = (index: number) => 20 + ((seed * 37 + index * 53) % 200)
  const afternoon = (index: number) => 300 + ((seed * 29 + index * 31) % 150)
  return {
    name,
    reference,
    email,
    address: address.join('\n'),
    at: timeBefore(now, first + 2 + (seed % 6), seed % 20),
    archivedAt:
      client.status === 'archived' ? timeBefore(now, Math.max(1, Math.min(first, ...ages) - 10), 500) : undefined,
    contacts: contacts.map((body, index) => ({ at: timeBefore(now, first + 1, morning(index + 11)), body })),
    notes: oldestFirst(notes).map(({ ago: days, participants, text }, index) => {
      const body = { date: dayBefore(now, days), participants, text: datesIn(now, days)(text) }
      return { at: timeBefore(now, days, morning(index)), body }
    }),
    disputes: oldestFirst(disputes).map(({ ago: days, status, invoice, position, amount, due_in: left }, index) => {
      const tell = datesIn(now, days)
      const due = left === undefined ? null : dayAfter(now, left)
      const body = { invoice: tell(invoice), amount, due, status: 'open' as const, position: tell(position) }
      const at = timeBefore(now, days, morning(index + 5))
      if (status === 'open') return { at, body }
      return { at, body, later: { at: timeBefore(now, Math.max(1, days - 9), afternoon(index)), body: { status } } }
    }),
    letters: oldestFirst(letters).map(({ ago: days, subject, status, body: text }, index) => {
      const body = { subject, status: 'draft' as const, body: datesIn(now, days)(text) }
      const at = timeBefore(now, days, morning(index + 9))
      if (status === 'draft') return { at, body }
      return { at, body, later: { at: timeBefore(now, days, afternoon(index)), body: { status } } }
    }),
    tasks: oldestFirst(tasks).map(({ ago: days, title, due_in: left, priority, status }, index) => {
      const due = left === undefined ? null : dayAfter(now, left)
      const body = { title, due, ...(priority && { priority }), status: 'open' as const }
      const at = timeBefore(now, days, morning(index + 3))
      return status === undefined
        ? { at, body }
        : { at, body, later: { at: timeBefore(now, days, afternoon(index)), body: { status } } }
    }),
    time: oldestFirst(time).map(({ ago: days, ...body }, index) => ({
      at: timeBefore(now, days, afternoon(index + 3)),
      body: { ...body, date: dayBefore(now, days) },
    })),
    expenses: oldestFirst(expenses).map(({ ago: days, ...body }, index) => ({
      at: timeBefore(now, days, afternoon(index + 7)),
      body: { ...body, date: dayBefore(now, days) },
    })),
  }
}

function oldestFirst<Item extends { readonly ago: number }>(items: readonly Item[]): Item[] {
  return items.toSorted((one, other) => other.ago - one.ago)
}
