import { Type } from 'typebox'
import { body, nullable } from '../platform/http/schema-parts.ts'
import { contactLanguages, invoiceLanguages } from '../platform/text/languages.ts'
import { mostBytes } from './documents/limits.ts'

/** The JSON schemas of client records. Types, validation and the API document derive from them. */

const id = Type.String({ format: 'uuid', description: 'A UUIDv7 in lower case.' })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })
const optionalTime = (description: string) => nullable(Type.String({ format: 'date-time', description }))
const version = Type.Integer({
  minimum: 1,
  description: 'The number of edits. The ETag is the version in quotes: `"3"`.',
})
const count = Type.Integer({ minimum: 0 })

const line = (maxLength: number, description: string) =>
  Type.String({ format: 'line', minLength: 1, maxLength, description })
const text = (maxLength: number, description: string) => Type.String({ format: 'text', maxLength, description })
const currency = Type.String({ description: "The firm's currency (ISO 4217), from the configuration." })
const amount = Type.String({ maxLength: 40, description: 'A decimal number: `1250.00`.' })

/** The person who acted; null for the command line. */
const person = Type.Object({ id, name: Type.String() })
const someone = Type.Union([person, Type.Null()])

// ---- clients

const clientStatus = Type.Enum(['active', 'archived'])

const clientName = line(200, "The client's name.")
const clientReference = line(100, "The firm's own reference. Unique per consultant.")
const clientEmail = line(254, "The client's email address.")
const clientAddress = text(500, 'The postal address on letters, without the name: at most 8 lines.')

/** What every invoice to the client states. */
const billingChange = {
  vat_number: Type.Optional(nullable(line(50, 'The VAT number with the code of its country: `DE123456789`.'))),
  billing_street: Type.Optional(
    nullable(line(200, 'The street and number, or the PO box, of the address on invoices.')),
  ),
  billing_extra: Type.Optional(nullable(line(200, 'Another line of that address, such as a department.'))),
  billing_postcode: Type.Optional(nullable(line(20, 'Its post code.'))),
  billing_city: Type.Optional(nullable(line(100, 'Its town or city.'))),
  billing_country: Type.Optional(nullable(line(2, 'Its country (ISO 3166-1): `DE`.'))),
  buyer_reference: Type.Optional(nullable(line(100, 'The reference that the client wants on its invoices (BT-10).'))),
  order_number: Type.Optional(nullable(line(100, "The number of the client's order (BT-13)."))),
  billing_language: Type.Optional(
    nullable(
      Type.Enum([...invoiceLanguages], { description: 'The language of its invoices. Null: that of the firm.' }),
    ),
  ),
  days_to_pay: Type.Optional(
    Type.Union([
      Type.Integer({ minimum: 0, maximum: 365, description: 'The days from issue to due date.' }),
      Type.Null(),
    ]),
  ),
}

export const newClient = body({
  name: clientName,
  reference: Type.Optional(nullable(clientReference)),
  email: Type.Optional(nullable(clientEmail)),
  address: Type.Optional(nullable(clientAddress)),
  ...billingChange,
  consultant_id: Type.Optional(id),
})
export type NewClient = Type.Static<typeof newClient>

export const clientChange = body({
  name: Type.Optional(clientName),
  reference: Type.Optional(nullable(clientReference)),
  email: Type.Optional(nullable(clientEmail)),
  address: Type.Optional(nullable(clientAddress)),
  ...billingChange,
  status: Type.Optional(clientStatus),
  consultant_id: Type.Optional(id),
})
export type ClientChange = Type.Static<typeof clientChange>

const clientFields = {
  id,
  name: Type.String(),
  reference: nullable(Type.String()),
  email: nullable(Type.String()),
  address: nullable(Type.String()),
  status: clientStatus,
  consultant: person,
  created_at: time,
  updated_at: Type.String({ format: 'date-time', description: 'When the fields of the client itself last changed.' }),
  version,
  changed_at: Type.String({
    format: 'date-time',
    description: 'When anything in the record last changed, including its notes, disputes and letters.',
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
  similar: Type.Boolean({
    description:
      'True if no client matches `q`: these have a similar spelling, nearest first. Then `total` is 0, and there is no further page.',
  }),
})
export type ClientList = Type.Static<typeof clientList>

export const clientQuery = body({
  q: Type.Optional(
    text(
      200,
      'Words of the name, the reference or the email address, or parts of them, in any order, as in `GET /search`.',
    ),
  ),
  status: Type.Optional(
    Type.Enum(['active', 'archived', 'all', 'deleted'], {
      description: 'Default `active`. `all` does not include deleted clients. Only partners can list those.',
    }),
  ),
  consultant: Type.Optional(id),
  sort: Type.Optional(
    Type.Enum(['name', '-name', 'reference', '-reference', 'changed_at', '-changed_at'], {
      description: 'Default `name`, and with `q` as in `GET /search`, then by name. `-` sorts in descending order.',
    }),
  ),
  cursor: Type.Optional(text(1300, '`next` of the previous page.')),
  limit: Type.Optional(Type.String({ format: 'page-size', description: '1 to 200; default 50.' })),
})
export type ClientQuery = Type.Static<typeof clientQuery>

/** Selected clients in the versions that were seen, and who gets them. */
export const selectedHandover = body({
  clients: Type.Array(body({ id: Type.String({ maxLength: 100, description: 'The id of the client.' }), version }), {
    minItems: 1,
    maxItems: 1000,
    description: 'The clients, each in the version that you read.',
  }),
  to: Type.String({ maxLength: 100, description: 'The id of the active person who receives the clients.' }),
})
export type SelectedHandover = Type.Static<typeof selectedHandover>

export const selectedHandedOver = Type.Object({
  handed_over: Type.Integer({
    minimum: 0,
    description: 'How many clients were assigned, not counting those the person already had.',
  }),
})
export type SelectedHandedOver = Type.Static<typeof selectedHandedOver>

/** The clients of a selection that have changed since they were read. */
export const changedSelection = Type.Object({
  clients: Type.Array(
    Type.Object({
      id,
      name: Type.String(),
      reference: nullable(Type.String()),
      status: clientStatus,
      version,
      consultant: person,
    }),
  ),
})
export type ChangedSelection = Type.Static<typeof changedSelection>

// ---- notes, disputes and letters

const itemFields = {
  id,
  created_at: time,
  created_by: someone,
  updated_at: time,
  updated_by: someone,
  version,
  archived_at: optionalTime('When it was archived; null for an item of the record.'),
}

const noteDate = Type.String({ format: 'date', description: 'The day of the meeting: `2026-03-12`.' })
const participants = Type.Array(line(200, 'A participant of the meeting.'), { maxItems: 50 })
const noteText = text(200_000, 'The text of the note.')

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

const invoice = line(
  100,
  'The number of the invoice in dispute. While the dispute of one of the firm’s invoices is open, no reminder of it is sent.',
)
const position = text(20_000, "The client's position and the firm's.")
const due = nullable(
  Type.String({ format: 'date', description: 'The day by which the firm has to answer: `2026-03-12`.' }),
)
const disputeStatus = Type.Enum(['open', 'settled', 'withdrawn'])

export const newDispute = body({
  invoice,
  amount,
  due: Type.Optional(due),
  position: Type.Optional(position),
  status: Type.Optional(disputeStatus),
})
export const disputeChange = body({
  invoice: Type.Optional(invoice),
  amount: Type.Optional(amount),
  due: Type.Optional(due),
  position: Type.Optional(position),
  status: Type.Optional(disputeStatus),
})
export const dispute = Type.Object({
  ...itemFields,
  invoice: Type.String(),
  invoice_id: nullable(
    Type.String({
      description:
        'For partners: the issued invoice of the client with this number. Null if there is none, and for consultants.',
    }),
  ),
  amount,
  currency,
  due: nullable(Type.String({ description: 'The day by which the firm has to answer; null for none.' })),
  position: Type.String(),
  status: disputeStatus,
})
export type Dispute = Type.Static<typeof dispute>

const subject = line(300, 'The subject line.')
const letterBody = text(200_000, 'The text of the letter.')
const letterStatus = Type.Enum(['draft', 'approved', 'sent'], {
  description:
    'A changed text makes an approved letter a draft again. A draft that is sent is approved by its sender. A sent letter ' +
    'cannot be changed.',
})

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
  cost: nullable(Type.String({ description: 'The charges of its drafts, from the ledger; null without any.' })),
  drafts: Type.Integer({ minimum: 0, description: 'How many drafts it was written from.' }),
  currency,
  approved_at: optionalTime('When its text was approved; null for a draft.'),
  approved_by: someone,
  sent_at: optionalTime('When it was sent; null before.'),
  previous_id: nullable(Type.String({ description: 'The letter that this is a new version of.' })),
})
export type Letter = Type.Static<typeof letter>

const entryDate = Type.String({
  format: 'date',
  description: 'The day of the work or of the expense, at most today in the time zone of the firm: `2026-03-12`.',
})
const entryText = line(280, 'What it was for, as it will appear on the invoice.')
const minutes = Type.Integer({ minimum: 1, maximum: 1440 })
const rate = Type.String({ description: 'The price per hour, without tax.' })
const newRate = Type.String({
  maxLength: 40,
  description:
    'The price per hour, without tax: a decimal number with at most 6 decimals, not negative. Default for new entries: ' +
    '`invoicing.hourly_rate`.',
})
const cost = Type.String({
  maxLength: 40,
  description: 'Without tax: a decimal number above zero with at most 6 decimals.',
})
const taxId = nullable(text(100, 'The id of a tax of the configuration. Null: its first.'))
const billable = Type.Boolean({ description: 'Whether it is to be billed to the client.' })

export const newTimeEntry = body({
  date: entryDate,
  minutes,
  rate: Type.Optional(newRate),
  text: entryText,
  billable: Type.Optional(billable),
})
export const timeEntryChange = body({
  date: Type.Optional(entryDate),
  minutes: Type.Optional(minutes),
  rate: Type.Optional(newRate),
  text: Type.Optional(entryText),
  billable: Type.Optional(billable),
})
export const timeEntry = Type.Object({
  ...itemFields,
  date: Type.String(),
  minutes,
  rate,
  amount: Type.String({ description: 'The cost of the time without tax, rounded to the minor unit of the currency.' }),
  currency,
  text: Type.String(),
  billable,
})
export type TimeEntry = Type.Static<typeof timeEntry>

export const newExpense = body({
  date: entryDate,
  amount: cost,
  text: entryText,
  tax: Type.Optional(taxId),
  billable: Type.Optional(billable),
})
export const expenseChange = body({
  date: Type.Optional(entryDate),
  amount: Type.Optional(cost),
  text: Type.Optional(entryText),
  tax: Type.Optional(taxId),
  billable: Type.Optional(billable),
})
export const expense = Type.Object({
  ...itemFields,
  date: Type.String(),
  amount: cost,
  currency,
  text: Type.String(),
  tax: taxId,
  billable,
})
export type Expense = Type.Static<typeof expense>

const documentName = line(255, 'The name of the file, with its extension: `Lease 2026.pdf`.')
const digest = Type.String({
  minLength: 64,
  maxLength: 64,
  pattern: '^[0-9a-f]{64}$',
  description:
    'The SHA-256 of the bytes, as 64 hexadecimal digits: of a complete upload to this client, or of any of its documents.',
})
const documentType = Type.String({ description: 'The media type, found from the bytes: `application/pdf`.' })
const bytes = Type.Integer({ minimum: 0, maximum: mostBytes, description: 'The number of bytes.' })

export const newDocument = body({ name: documentName, digest })
export const documentChange = body({ name: Type.Optional(documentName), digest: Type.Optional(digest) })
export const document = Type.Object({
  ...itemFields,
  name: Type.String(),
  digest,
  type: documentType,
  bytes,
  reading: Type.Enum(['waiting', 'read', 'none', 'protected', 'damaged', 'too_much'], {
    description:
      'Whether its text was read, so that it is found by what it says: `waiting` is not yet, `none` has no text or is of a type that is ' +
      'not read, `protected` has a password, `damaged` cannot be read, and reading `too_much` took too much time or memory.',
  }),
})
export type Document = Type.Static<typeof document>

export const contentQuery = body({
  version: Type.Optional(
    Type.String({
      format: 'row-number',
      maxLength: 9,
      description: 'The version of the document. Default: the current one.',
    }),
  ),
})

const taskTitle = line(300, 'What is to be done.')
const taskDue = nullable(Type.String({ format: 'date', description: 'The day by which: `2026-03-19`. Null: none.' }))
const taskPriority = Type.Enum(['high', 'normal', 'low'])
const taskStatus = Type.Enum(['open', 'done'])
const taskOwner = nullable(
  Type.String({
    maxLength: 100,
    description:
      'The id of the partner who does it. Only partners may send it. Null: the consultant of the client, also after a hand-over. If the ' +
      'partner is disabled or becomes a consultant, the consultant of the client does it.',
  }),
)
const aboutNoun = Type.Enum(['note', 'dispute', 'letter', 'document', 'invoice'])
const taskAbout = Type.Union([body({ noun: aboutNoun, id: Type.String({ maxLength: 100 }) }), Type.Null()], {
  description:
    'What it concerns: a note, dispute, letter or document of this record, or, if a partner says so, an invoice of the client. Null: the client itself.',
})

export const newTask = body({
  title: taskTitle,
  due: Type.Optional(taskDue),
  priority: Type.Optional(taskPriority),
  status: Type.Optional(taskStatus),
  owner_id: Type.Optional(taskOwner),
  about: Type.Optional(taskAbout),
})
export const taskChange = body({
  title: Type.Optional(taskTitle),
  due: Type.Optional(taskDue),
  priority: Type.Optional(taskPriority),
  status: Type.Optional(taskStatus),
  owner_id: Type.Optional(taskOwner),
  about: Type.Optional(taskAbout),
})
export const task = Type.Object({
  ...itemFields,
  title: Type.String(),
  due: nullable(Type.String({ description: 'The day by which; null for none.' })),
  priority: taskPriority,
  status: taskStatus,
  owner_id: taskOwner,
  owner: Type.Object({ id, name: Type.String() }, { description: 'Who does it now.' }),
  about: taskAbout,
  about_title: nullable(
    Type.String({
      description:
        'The day of the note, the invoice of the dispute, the subject of the letter, the name of the document, or for partners the number of the ' +
        'invoice, as it is now.',
    }),
  ),
  done_at: optionalTime('When it was completed; null for an open one.'),
  done_by: someone,
})
export type Task = Type.Static<typeof task>

const contactName = line(200, 'The name of the person, or of a department.')
const contactJobTitle = nullable(line(100, 'What the person does at or for the client: `Head of accounts`.'))
const contactEmail = nullable(line(254, 'The email address, to which letters can be sent.'))
const contactPhone = nullable(line(50, 'The telephone number, as it is dialled.'))
const contactLanguage = nullable(
  Type.Enum([...contactLanguages], { description: 'The language of the person (BCP 47). Null: not known.' }),
)

export const newContact = body({
  name: contactName,
  job_title: Type.Optional(contactJobTitle),
  email: Type.Optional(contactEmail),
  phone: Type.Optional(contactPhone),
  language: Type.Optional(contactLanguage),
})
export const contactChange = body({
  name: Type.Optional(contactName),
  job_title: Type.Optional(contactJobTitle),
  email: Type.Optional(contactEmail),
  phone: Type.Optional(contactPhone),
  language: Type.Optional(contactLanguage),
})
export const contact = Type.Object({
  ...itemFields,
  name: Type.String(),
  job_title: nullable(Type.String()),
  email: nullable(Type.String()),
  phone: nullable(Type.String()),
  language: contactLanguage,
})
export type Contact = Type.Static<typeof contact>

/** Bytes on their way to a record. */
export const upload = Type.Object({
  id,
  bytes,
  received: Type.Integer({ minimum: 0, description: 'The bytes that are stored. Continue with the next one.' }),
  digest: Type.Union([Type.String(), Type.Null()], {
    description:
      'The SHA-256 of the bytes, as 64 hexadecimal digits; null until all have arrived. A document is made from it.',
  }),
  type: Type.Union([Type.String(), Type.Null()], {
    description: 'The media type, found from the bytes; null until all have arrived.',
  }),
})
export type Upload = Type.Static<typeof upload>

/** The erasure of a client that is to come. */
export const scheduledErasure = Type.Object({
  reason: Type.String(),
  scheduled_at: time,
  scheduled_by: Type.Union([person, Type.Null()], { description: 'Null for a retention rule.' }),
  due_at: optionalTime('When the waiting period ends; null once the erasure is performed.'),
})

/** A client with its notes, disputes and letters, newest first. */
export const clientRecord = Type.Object({
  ...clientFields,
  vat_number: nullable(
    Type.String({
      description: 'This and the fields up to `days_to_pay`: a new draft of an invoice to the client copies them.',
    }),
  ),
  billing_street: nullable(Type.String()),
  billing_extra: nullable(Type.String()),
  billing_postcode: nullable(Type.String()),
  billing_city: nullable(Type.String()),
  billing_country: nullable(Type.String()),
  buyer_reference: nullable(Type.String()),
  order_number: nullable(Type.String()),
  billing_language: nullable(Type.Enum([...invoiceLanguages])),
  days_to_pay: Type.Union([Type.Integer(), Type.Null()]),
  erasure: Type.Union([scheduledErasure, Type.Null()], {
    description: 'The scheduled erasure of the client; null if there is none.',
  }),
  notes: Type.Array(note),
  disputes: Type.Array(dispute),
  letters: Type.Array(letter),
})
export type ClientRecord = Type.Static<typeof clientRecord>

const paging = {
  cursor: Type.Optional(text(1300, '`next` of the previous page.')),
  limit: Type.Optional(Type.String({ format: 'page-size', description: '1 to 200; default 50.' })),
}

const next = nullable(Type.String({ description: 'The `cursor` of the next page, if there is one.' }))
export const noteList = Type.Object({ notes: Type.Array(note), next })
export const disputeList = Type.Object({ disputes: Type.Array(dispute), next })
export const letterList = Type.Object({ letters: Type.Array(letter), next })
const entryTotals = {
  entries: Type.Integer(),
  billable: Type.String({ description: 'The sum of the amounts of billable entries.' }),
  currency,
}
const ofAll = 'Of all entries on all pages. Absent in a list of archived entries.'
export const timeEntryList = Type.Object({
  time_entries: Type.Array(timeEntry),
  next,
  totals: Type.Optional(Type.Object({ ...entryTotals, minutes: Type.Integer() }, { description: ofAll })),
  default_rate: Type.Optional(
    nullable(
      Type.String({
        description: '`invoicing.hourly_rate`; null if it is not set. Absent in a list of archived entries.',
      }),
    ),
  ),
})
export type TimeEntryList = Type.Static<typeof timeEntryList>
export const expenseList = Type.Object({
  expenses: Type.Array(expense),
  next,
  totals: Type.Optional(Type.Object(entryTotals, { description: ofAll })),
})
export type ExpenseList = Type.Static<typeof expenseList>

export const documentList = Type.Object({
  documents: Type.Array(document),
  next,
  totals: Type.Optional(
    Type.Object(
      { documents: Type.Integer(), bytes: Type.Integer() },
      { description: 'Of all documents on all pages. Absent in a list of archived documents.' },
    ),
  ),
})
export type DocumentList = Type.Static<typeof documentList>

export const taskList = Type.Object({
  tasks: Type.Array(task, { description: 'Open ones by day, then those that are done, the last first.' }),
  next,
})

export const contactList = Type.Object({ contacts: Type.Array(contact, { description: 'By name.' }), next })

/** The parameters of a list of items of one kind. */
export const itemQuery = body({
  archived: Type.Optional(
    Type.Enum(['true', 'false'], {
      description:
        'Whether to list the archived items, page by page. Default `false`: all others. Documents, time entries and expenses are always listed page by page.',
    }),
  ),
  ...paging,
})

/** A revision of a client, note, dispute or letter. `data` has the fields with their values at that time. */
const revision = Type.Object({
  version,
  at: time,
  by: someone,
  archived: Type.Boolean({ description: 'Whether this edit archived or deleted it.' }),
  data: Type.Record(Type.String(), Type.Unknown()),
})
export const revisionQuery = body(paging)
export type RevisionQuery = Type.Static<typeof revisionQuery>
export const revisionList = Type.Object({ revisions: Type.Array(revision), next: nullable(Type.String()) })
export type RevisionList = Type.Static<typeof revisionList>

/** The 412 response. `current` is the current state, as GET returns it. */
export const staleVersion = <Current extends ReturnType<typeof Type.Object>>(current: Current) =>
  Type.Object({ error: Type.Object({ code: Type.Literal('stale_version'), reason: Type.String() }), current })

// ---- activity, search, audit

const nouns = ['client', 'note', 'dispute', 'letter', 'document', 'task', 'contact'] as const
const noun = Type.Enum([...nouns])
export type RecordNoun = (typeof nouns)[number]
/** What has revisions. */
export type RevisedNoun = RecordNoun | 'time_entry' | 'expense'

/** One action on a record. */
export const activity = Type.Object({
  id: Type.String({
    description: "Unique among the activity of this client. It says nothing about other clients' activity.",
  }),
  at: time,
  by: someone,
  action: Type.String({ description: '`client_read`, `client_changed`, `note_created`, …' }),
  outcome: Type.Enum(['allowed', 'refused']),
  noun: nullable(Type.String()),
  noun_id: nullable(Type.String()),
  title: Type.Union([Type.String(), Type.Null()], {
    description:
      'The day of a note, time entry or expense, the invoice of a dispute, the subject of a letter, the name of a document, the title of a task, the name of a contact, as they are ' +
      'now. Null for the client itself, for lists and for uploads.',
  }),
  version: Type.Union([Type.Integer(), Type.Null()], { description: 'The revision that the action created.' }),
  fields: Type.Array(Type.String(), { description: 'The fields that the action changed.' }),
})
export type Activity = Type.Static<typeof activity>
export const activityQuery = body({
  ...paging,
  reads: Type.Optional(Type.Enum(['true', 'false'], { description: 'Whether to include reads. Default `false`.' })),
})
export const activityList = Type.Object({ activity: Type.Array(activity), next: nullable(Type.String()) })
export type ActivityList = Type.Static<typeof activityList>

export const searchQuery = body({
  q: Type.Optional(
    text(
      200,
      'Words or their first letters. All must occur in a match. Clients also match by three or more letters or digits ' +
        'anywhere in their words, with or without spaces and punctuation: `PA1031` finds `PA-1031`. Accents are ignored, and letters ' +
        'match in their plain spelling: `oedegaard` finds `Ødegård`. The client with this reference, or the disputes about ' +
        'this invoice, come first, then whole words, beginnings of words and parts of words. Without words, nothing matches.',
    ),
  ),
  limit: Type.Optional(Type.String({ format: 'page-size', description: 'Per noun: 1 to 200; default 20.' })),
})
/** A match. In `snippet`, U+E000 and U+E001 enclose each matching word. */
export const searchResult = Type.Object({
  noun,
  id,
  title: Type.String(),
  snippet: Type.String(),
  client: Type.Object({ id, name: Type.String() }),
  changed_at: Type.String({
    format: 'date-time',
    description: 'When it last changed; for a client, when anything in its record last changed.',
  }),
  archived: Type.Boolean({ description: 'Archived items come after the others.' }),
})
export type SearchResult = Type.Static<typeof searchResult>
export const searchResults = Type.Object({
  results: Type.Array(searchResult),
  similar: Type.Boolean({
    description: 'True if nothing matches: the results are clients that are spelt like `q`, nearest first.',
  }),
})
export type SearchResults = Type.Static<typeof searchResults>

export type { AuditList, AuditRow } from '../access/schema.ts'
