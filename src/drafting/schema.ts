import { Type } from 'typebox'
import { body, nullable } from '../platform/http/schema-parts.ts'
import { letter } from '../clients/schema.ts'

/** The JSON schemas of drafts, of what a client has cost, and of templates. */

const text = (description: string) => Type.String({ description })
const id = Type.String({ format: 'uuid', description: 'A UUIDv7 in lower case.' })
const time = Type.String({ format: 'date-time', description: 'A date and time in UTC.' })
const count = Type.Integer({ minimum: 0 })
const amount = (description: string) => text(`${description} A decimal number.`)
const currency = text("The firm's currency (ISO 4217).")
const someone = Type.Union([Type.Object({ id, name: Type.String() }), Type.Null()])

const instructions = Type.String({
  format: 'filled-text',
  maxLength: 20_000,
  description: 'What to write, for the model.',
})
const line = (maxLength: number, description: string) =>
  Type.String({ format: 'line', minLength: 1, maxLength, description })
const ids = (most: number, description: string) =>
  Type.Array(Type.String({ maxLength: 100 }), { maxItems: most, description })

// ---- drafts

export const newDraft = body({
  instructions,
  notes: Type.Optional(ids(50, 'The notes of this client to write from, by id.')),
  disputes: Type.Optional(ids(10, 'The disputes of this client to write from, by id.')),
  documents: Type.Optional(
    Type.Array(
      body({
        id: Type.String({ maxLength: 100, description: 'The id of the document.' }),
        pages: Type.Optional(
          Type.Array(Type.Integer({ minimum: 1, maximum: 5000 }), {
            minItems: 1,
            maxItems: 200,
            description: 'The pages to read: of a PDF its pages, of a workbook its sheets. Default: all.',
          }),
        ),
      }),
      { maxItems: 10, description: 'The documents of this client to write from, whose text was read.' },
    ),
  ),
  letter: Type.Optional(Type.String({ maxLength: 100, description: 'The letter to write anew, by id.' })),
  subject: Type.Optional(line(300, 'The subject line. Default: that of the letter, or one made from the sources.')),
})
export type NewDraft = Type.Static<typeof newDraft>

const source = Type.Object({
  kind: Type.Enum(['note', 'dispute', 'document']),
  id,
  version: Type.Integer({ minimum: 1, description: 'The version that was read.' }),
  title: text('The day of the note, the invoice of the dispute, or the name of the document.'),
  pages: Type.Optional(
    Type.Array(Type.Integer(), { description: 'The pages of the document that were read. Absent: all.' }),
  ),
})

export const draft = Type.Object({
  id: Type.String({ format: 'uuid', description: 'Also the id of the request in the ledger.' }),
  status: Type.Enum(['running', 'complete', 'stopped', 'failed']),
  instructions: Type.String(),
  sources: Type.Array(source),
  subject: Type.String(),
  model: text('The model that wrote it.'),
  input_tokens: Type.Union([count, Type.Null()]),
  output_tokens: Type.Union([count, Type.Null()]),
  cost: nullable(amount('What was charged for it; null if nothing was.')),
  currency,
  stop_reason: nullable(text('Why the model stopped: `max_output_tokens` means that the text is cut off.')),
  failure: nullable(
    text('Why it failed: an error code, `interrupted` (nothing was charged) or `no_text` (the text is lost).'),
  ),
  letter_id: nullable(text('The letter with the text. Null if there is no text.')),
  created_at: time,
  created_by: someone,
  finished_at: nullable(time),
})
export type ShownDraft = Type.Static<typeof draft>

export const draftList = Type.Object({ drafts: Type.Array(draft) })
export const draftQuery = body({
  letter: Type.Optional(Type.String({ maxLength: 100, description: 'Only the drafts of this letter.' })),
})
export const drafted = Type.Object({ draft, letter: Type.Union([letter, Type.Null()]) })

// ---- checks

export const check = Type.Object({
  letter: Type.Object({
    id,
    version: Type.Integer({ minimum: 1, description: 'The saved version that was checked.' }),
  }),
  sources: Type.Array(
    Type.Object({
      ...source.properties,
      state: Type.Enum(['unchanged', 'changed', 'gone'], {
        description:
          'Since the draft. The letter is compared with what the source says now; with one that is gone, not at all.',
      }),
      used: Type.Boolean({ description: 'Whether a sentence rests on it.' }),
    }),
    { description: "The draft's." },
  ),
  sentences: Type.Array(
    Type.Object({
      text: Type.String(),
      source: nullable(
        Type.Integer({ minimum: 0, description: 'The index in `sources` of the one it rests on, if any.' }),
      ),
      missing: Type.Array(Type.Object({ kind: Type.Enum(['figure', 'date', 'name']), text: Type.String() }), {
        description: 'Its figures, dates and names that stand in no source, nor in the instructions.',
      }),
    }),
    { description: 'The letter, in order.' },
  ),
})
export type ShownCheck = Type.Static<typeof check>

// ---- costs

export const costs = Type.Object({
  total: amount('The sum of the ledger for this client.'),
  currency,
  by_month: Type.Array(
    Type.Object({
      month: text('`2026-03`, in UTC.'),
      requests: count,
      input_tokens: count,
      output_tokens: count,
      cost: amount('Of this month.'),
    }),
    { description: 'The newest month first.' },
  ),
  by_letter: Type.Array(
    Type.Object({
      letter: Type.Object({ id, subject: Type.String(), archived: Type.Boolean() }),
      requests: count,
      cost: amount('Of all drafts of this letter.'),
    }),
    { description: 'The newest letter first.' },
  ),
  not_kept: amount('Of drafts without a letter.'),
  by_api: amount('Of requests with an API key that name this client.'),
})
export type ClientCosts = Type.Static<typeof costs>

// ---- templates

const kind = line(60, 'The kind of letter, such as `Letter after a meeting`.')
const name = line(200, 'Unique within its kind.')
const isDefault = Type.Boolean({ description: 'Whether it is the default of its kind. Each kind has at most one.' })

export const newTemplate = body({ kind, name, instructions, is_default: Type.Optional(isDefault) })
export const templateChange = body({
  kind: Type.Optional(kind),
  name: Type.Optional(name),
  instructions: Type.Optional(instructions),
  is_default: Type.Optional(isDefault),
})
export type TemplateChange = Type.Static<typeof templateChange>
export type NewTemplate = Type.Static<typeof newTemplate>

const version = Type.Integer({ minimum: 1, description: 'The ETag is the version in quotes: `"3"`.' })
export const template = Type.Object({
  id,
  kind: Type.String(),
  name: Type.String(),
  instructions: Type.String(),
  is_default: Type.Boolean(),
  version,
  updated_at: time,
  updated_by: someone,
})
export type Template = Type.Static<typeof template>
export const templateList = Type.Object({ templates: Type.Array(template) })

const templateRevision = Type.Object({
  version,
  at: time,
  by: someone,
  removed: Type.Boolean(),
  data: Type.Record(Type.String(), Type.Unknown()),
})
export type TemplateRevision = Type.Static<typeof templateRevision>
export const templateRevisions = Type.Object({ revisions: Type.Array(templateRevision) })
