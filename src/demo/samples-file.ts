import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Type, type TProperties } from 'typebox'
import { Value } from 'typebox/value'
import { parse } from 'yaml'
import { datesIn, dayBefore } from './sample-dates.ts'

/** The sample clients as the files in `samples/` have them: readable, with dates that count from the first start. */

const object = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })
const ago = Type.Integer({ minimum: 1 })

const writtenNote = object({ ago, participants: Type.Array(Type.String()), text: Type.String() })
const writtenDispute = object({
  ago,
  invoice: Type.String(),
  amount: Type.String({ pattern: '^\\d+\\.\\d\\d$' }),
  status: Type.Enum(['open', 'settled', 'withdrawn']),
  position: Type.String(),
})
const writtenLetter = object({
  ago,
  subject: Type.String(),
  status: Type.Enum(['draft', 'approved', 'sent']),
  body: Type.String(),
})
const writtenClient = object({
  name: Type.String(),
  reference: Type.String(),
  email: Type.String(),
  status: Type.Optional(Type.Literal('archived')),
  notes: Type.Optional(Type.Array(writtenNote)),
  disputes: Type.Optional(Type.Array(writtenDispute)),
  letters: Type.Optional(Type.Array(writtenLetter)),
})
const written = Type.Array(writtenClient)
type WrittenClient = Type.Static<typeof writtenClient>

/** A sample client, as it is entered. Disputes and letters stand in the order in which they came about. */
export interface SampleClient {
  readonly name: string
  readonly reference: string
  readonly email: string
  readonly archived: boolean
  readonly notes: readonly { readonly date: string; readonly participants: string[]; readonly text: string }[]
  readonly disputes: readonly Pick<Type.Static<typeof writtenDispute>, 'invoice' | 'amount' | 'status' | 'position'>[]
  readonly letters: readonly Pick<Type.Static<typeof writtenLetter>, 'subject' | 'status' | 'body'>[]
}

/** The sample clients of one person of the demo's firm, dated as seen from `now`. */
export async function readSamples(subject: string, now: Date): Promise<SampleClient[]> {
  const file = path.join(import.meta.dirname, 'samples', `${subject}.yaml`)
  const content: unknown = parse(await readFile(file, 'utf8'))
  if (!Value.Check(written, content)) throw new Error(`${file}: ${JSON.stringify(Value.Errors(written, content)[0])}`)
  return content.map((client) => dated(client, now))
}

function dated({ name, reference, email, status, notes, disputes, letters }: WrittenClient, now: Date): SampleClient {
  return {
    name,
    reference,
    email,
    archived: status === 'archived',
    notes: oldestFirst(notes).map((note) => {
      const tell = datesIn(now, note.ago)
      return { date: dayBefore(now, note.ago), participants: note.participants, text: tell(note.text) }
    }),
    disputes: oldestFirst(disputes).map(({ ago: days, invoice, amount, status: state, position }) => {
      const tell = datesIn(now, days)
      return { invoice: tell(invoice), amount, status: state, position: tell(position) }
    }),
    letters: oldestFirst(letters).map(({ ago: days, subject, status: state, body }) => {
      const tell = datesIn(now, days)
      return { subject, status: state, body: tell(body) }
    }),
  }
}

function oldestFirst<Item extends { readonly ago: number }>(items: readonly Item[] = []): Item[] {
  return items.toSorted((one, other) => other.ago - one.ago)
}
