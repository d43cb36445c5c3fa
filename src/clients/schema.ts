import { Type, type TProperties } from 'typebox'

/** The wire shapes of client records (section 2.4 of the specification). Types, checks and documents come from here. */

const nullable = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()])

const id = Type.String({ format: 'uuid', description: 'A UUIDv7 in lower case.' })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })
const version = Type.Integer({ minimum: 1, description: 'Counts the edits. The ETag is made of it: `"3"`.' })
const count = Type.Integer({ minimum: 0 })

const line = (maxLength: number, description: string) =>
  Type.String({ format: 'line', minLength: 1, maxLength, description })
const text = (maxLength: number, description: string) => Type.String({ format: 'text', maxLength, description })
const currency = Type.String({ description: "The firm's currency (ISO 4217), from the configuration." })
const amount = Type.String({ maxLength: 40, description: 'A decimal number: `1250.00`.' })

/** What a body may not have a field beside of: anything else is refused. */
const body = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false })

/** A person by name; null where it was the command line. */
const person = Type.Object({ id, name: Type.String() })
const someone = Type.Union([person, Type.Null()])

// ---- clients

const clientStatus = Type.Enum(['active', 'archived'])

const clientName = line(200, 'How the firm calls the client.')
const clientReference = line(100, "The firm's own reference. No two clients of one consultant share one.")
const clientEmail = line(254, 'Where letters go.')

export const newClient = body({
  name: clientName,
  reference: Type.Optional(nullable(clientReference)),
  email: Type.Optional(nullable(clientEmail)),
  consultant_id: Type.Optional(id),
})
export type NewClient = Type.Static<typeof newClient>

export const clientChange = body({
  name: Type.Optional(clientName),
  reference: Type.Optional(nullable(clientReference)),
  email: Type.Optional(nullable(clientEmail)),
  status: Type.Optional(clientStatus),
  consultant_id: Type.Optional(id),
})
export type ClientChange = Type.Static<typeof clientChange>

const clientFields = {
  id,
  name: Type.String(),
  reference: nullable(Type.String()),
  email: nullable(Type.String()),
  status: clientStatus,
  consultant: person,
  created_at: time,
  updated_at: Type.String({ format: 'date-time', description: 'When fields of the client itself were written last.' }),
  version,
  changed_at: Type.String({
    format: 'date-time',
    description: 'When anything of the record was written last, a note, a dispute or a letter as well.',
  }),
}

/** A client in a list. */
export const listedClient = Type.Object({ ...clientFields, open_disputes: count })
export type ListedClient = Type.Static<typeof listedClient>

export const clientList = Type.Object({
  clients: Type.Array(listedClient),
  next: nullable(Type.String({ description: 'The `cursor` of the next page; null on the last.' })),
  total: Type.Integer({
    minimum: 0,
    description: 'The number of clients on all pages, counted up to 10 000, or up to 1 000 with `q`.',
  }),
  total_is_exact: Type.Boolean({ description: 'False if there are more clients than `total`.' }),
})
export type ClientList = Type.Static<typeof clientList>

/** What the address of the list takes after the question mark. `q` finds the beginnings of words. */
export const clientQuery = body({
  q: Type.Optional(text(200, 'Beginnings of words of the name, the reference or the e-mail address.')),
  status: Type.Optional(Type.Enum(['active', 'archived', 'all'], { description: '`active` unless told.' })),
  consultant: Type.Optional(id),
  sort: Type.Optional(
    Type.Enum(['name', '-name', 'reference', '-reference', 'changed_at', '-changed_at'], {
      description: '`name` unless told; `-` turns it round.',
    }),
  ),
  cursor: Type.Optional(text(1300, '`next` of the page before.')),
  limit: Type.Optional(Type.String({ format: 'page-size', description: '1 to 200; 50 unless told.' })),
})
export type ClientQuery = Type.Static<typeof clientQuery>

// ---- what a client's record holds

/** What notes, disputes and letters have in common. `created_by` and `updated_by` are null for the command line. */
const itemFields = { id, created_at: time, created_by: someone, updated_at: time, updated_by: someone, version }

const noteDate = Type.String({ format: 'date', description: 'The day of the meeting: `2026-03-12`.' })
const participants = Type.Array(line(200, 'Who was there.'), { maxItems: 50 })
const noteText = text(200_000, 'What was said.')

export const newNote = body({ date: noteDate, participants: Type.Optional(participants), text: noteText })
export const noteChange = body({
  date: Type.Optional(noteDate),
  participants: Type.Optional(participants),
  text: Type.Optional(noteText),
})
export const note = Type.Object({
  ...itemFields,
  date: Type.String(),
  participants: Type.Array(Type.String()),
  text: Type.String(),
})
export type Note = Type.Static<typeof note>

const invoice = line(100, 'The number of the invoice in dispute.')
const position = text(20_000, 'What the client says, and what we say.')
const disputeStatus = Type.Enum(['open', 'settled', 'withdrawn'])

export const newDispute = body({
  invoice,
  amount,
  position: Type.Optional(position),
  status: Type.Optional(disputeStatus),
})
export const disputeChange = body({
  invoice: Type.Optional(invoice),
  amount: Type.Optional(amount),
  position: Type.Optional(position),
  status: Type.Optional(disputeStatus),
})
export const dispute = Type.Object({
  ...itemFields,
  invoice: Type.String(),
  amount,
  currency,
  position: Type.String(),
  status: disputeStatus,
})
export type Dispute = Type.Static<typeof dispute>

const subject = line(300, 'What the letter is about.')
const letterBody = text(200_000, 'The letter itself.')
const letterStatus = Type.Enum(['draft', 'approved', 'sent'])

export const newLetter = body({
  subject,
  body: Type.Optional(letterBody),
  status: Type.Optional(letterStatus),
})
export const letterChange = body({
  subject: Type.Optional(subject),
  body: Type.Optional(letterBody),
  status: Type.Optional(letterStatus),
})
export const letter = Type.Object({
  ...itemFields,
  subject: Type.String(),
  body: Type.String(),
  status: letterStatus,
  generated: Type.Boolean({ description: 'Whether a model drafted it.' }),
  cost: nullable(Type.String({ description: 'The cost of drafting it; null if it cost nothing.' })),
  currency,
})
export type Letter = Type.Static<typeof letter>

/** A client with everything its record holds, newest first. */
export const clientRecord = Type.Object({
  ...clientFields,
  notes: Type.Array(note),
  disputes: Type.Array(dispute),
  letters: Type.Array(letter),
})
export type ClientRecord = Type.Static<typeof clientRecord>

export const noteList = Type.Object({ notes: Type.Array(note) })
export const disputeList = Type.Object({ disputes: Type.Array(dispute) })
export const letterList = Type.Object({ letters: Type.Array(letter) })

/** What an address that is turned page by page takes. */
const paging = {
  cursor: Type.Optional(text(1300, '`next` of the page before.')),
  limit: Type.Optional(Type.String({ format: 'page-size', description: '1 to 200; 50 unless told.' })),
}

/** One state that a client, note, dispute or letter has had. `data` has the fields as they were then. */
const revision = Type.Object({
  version,
  at: time,
  by: someone,
  archived: Type.Boolean({ description: 'Whether this edit took it off the record.' }),
  data: Type.Record(Type.String(), Type.Unknown()),
})
export const revisionQuery = body(paging)
export type RevisionQuery = Type.Static<typeof revisionQuery>
export const revisionList = Type.Object({ revisions: Type.Array(revision), next: nullable(Type.String()) })
export type RevisionList = Type.Static<typeof revisionList>

/** 412: somebody else was quicker. `current` is what is there now, in the shape that GET gives. */
export const staleVersion = <Current extends ReturnType<typeof Type.Object>>(current: Current) =>
  Type.Object({ error: Type.Object({ code: Type.Literal('stale_version'), reason: Type.String() }), current })

// ---- activity, search, audit

const nouns = ['client', 'note', 'dispute', 'letter'] as const
const noun = Type.Enum([...nouns])
export type Noun = (typeof nouns)[number]

/** Something that was done to a record, newest first. */
export const activity = Type.Object({
  id: Type.String({ description: 'Tells it from the others of this client, and nothing else.' }),
  at: time,
  by: someone,
  action: Type.String({ description: '`client_read`, `client_changed`, `note_created`, …' }),
  outcome: Type.Enum(['allowed', 'refused']),
  noun: nullable(Type.String()),
  noun_id: nullable(Type.String()),
  version: Type.Union([Type.Integer(), Type.Null()], { description: 'The revision that it made.' }),
  fields: Type.Array(Type.String(), { description: 'The fields that it changed.' }),
})
export type Activity = Type.Static<typeof activity>
export const activityQuery = body({
  ...paging,
  reads: Type.Optional(Type.Enum(['true', 'false'], { description: 'Whether those who only looked are in it.' })),
})
export const activityList = Type.Object({ activity: Type.Array(activity), next: nullable(Type.String()) })
export type ActivityList = Type.Static<typeof activityList>

export const searchQuery = body({
  q: Type.Optional(text(200, 'Beginnings of words, all of which have to occur; without any, nothing is found.')),
  limit: Type.Optional(Type.String({ format: 'page-size', description: '1 to 200; 20 of each kind unless told.' })),
})
/** A place where the words occur. In `snippet` they stand between U+E000 and U+E001. */
export const searchResult = Type.Object({
  noun,
  id,
  title: Type.String(),
  snippet: Type.String(),
  client: Type.Object({ id, name: Type.String() }),
  changed_at: Type.String({
    format: 'date-time',
    description: 'When it was written last; of a client, when anything of its record was.',
  }),
})
export type SearchResult = Type.Static<typeof searchResult>
export const searchResults = Type.Object({ results: Type.Array(searchResult) })
export type SearchResults = Type.Static<typeof searchResults>

export type { AuditList, AuditRow } from '../access/schema.ts'
