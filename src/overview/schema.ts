import { Type, type TProperties } from 'typebox'

/** The JSON schemas of the overview. */

const id = Type.String({ format: 'uuid' })
const time = (description: string) => Type.String({ format: 'date-time', description })
const person = Type.Object({ id, name: Type.String() })
const client = Type.Object({ id, name: Type.String(), consultant: person })
const amount = (description: string) => Type.String({ description })
const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
const more = (description: string) => Type.Boolean({ description })

const changedItem = Type.Object({
  noun: Type.Enum(['client', 'note', 'dispute', 'letter']),
  id,
  title: nullableText(
    'The day of a note, the invoice of a dispute, the subject of a letter; null for the client itself.',
  ),
  actions: Type.Array(Type.String(), {
    description: 'What was done, each once, in order: `note_created`, `letter_sent`, …',
  }),
  by: Type.Array(person, { description: 'The people who did it, the last first. Empty for the command line.' }),
  at: time('When it last changed.'),
})
export type ChangedItem = Type.Static<typeof changedItem>

const changedClient = Type.Object({
  client,
  status: Type.Enum(['active', 'archived']),
  items: Type.Array(changedItem, { description: 'The last to change first; at most 6.' }),
  more: more('Whether more of it changed. Its activity has everything.'),
})
export type ChangedClient = Type.Static<typeof changedClient>

/** What is waiting, and how much of it there is. */
const waiting = <Fields extends TProperties>(mostCounted: string, fields: Fields) => ({
  items: Type.Array(Type.Object({ id, client, ...fields }), { description: 'At most 50.' }),
  total: Type.Integer({ minimum: 0, description: `Counted up to ${mostCounted}.` }),
  total_is_exact: Type.Boolean({ description: 'False if there are more than `total`.' }),
})

const waitingLetters = Type.Object(
  waiting('1 000', {
    subject: Type.String(),
    updated_at: time('When it last changed.'),
    updated_by: Type.Union([person, Type.Null()]),
  }),
)
export type WaitingLetters = Type.Static<typeof waitingLetters>

const reviewedLetters = (description: string, at: string) =>
  Type.Object(
    waiting('1 000', {
      subject: Type.String(),
      reviewer: person,
      asked_by: Type.Union([person, Type.Null()], { description: 'Null for the command line.' }),
      at: time(at),
    }),
    { description },
  )
export type ReviewedLetters = Type.Static<ReturnType<typeof reviewedLetters>>

const openDisputes = Type.Object({
  ...waiting('10 000', {
    invoice: Type.String(),
    amount: amount('A decimal number.'),
    due: Type.Union([Type.String({ format: 'date' }), Type.Null()], {
      description: 'The day by which the firm has to answer.',
    }),
    created_at: time('When it was entered.'),
  }),
  amount: nullableText('The sum of all of them; null if there are more than are counted.'),
})
export type OpenDisputes = Type.Static<typeof openDisputes>

const count = Type.Integer({ minimum: 0 })
const day = (description: string) => Type.String({ format: 'date', description })
const dueTasks = Type.Object(
  {
    today: day("Today in the firm's time zone."),
    week_end: day('The Sunday of this week.'),
    overdue: count,
    due_today: count,
    this_week: Type.Integer({ minimum: 0, description: 'Due after today.' }),
    items: Type.Array(
      Type.Object({
        noun: Type.Enum(['task', 'dispute'], {
          description: '`dispute`: an open dispute that the firm has to answer by this day.',
        }),
        id,
        title: Type.String({ description: 'The invoice of a dispute.' }),
        due: Type.String({ format: 'date' }),
        priority: Type.Enum(['high', 'normal', 'low']),
        client,
      }),
      { description: 'By day; at most 50.' },
    ),
    people: Type.Optional(
      Type.Array(Type.Object({ id, name: Type.String(), overdue: count, today: count, this_week: count }), {
        description: 'For partners: everyone who has such tasks, by name.',
      }),
    ),
  },
  {
    description:
      "The person's open tasks that are due by the end of the week, and the open disputes that their clients' firm has to answer by then. Of those within reach, the 10 000 with the earliest days are counted.",
  },
)
export type DueTasks = Type.Static<typeof dueTasks>

const accountCredit = Type.Object({
  id,
  name: Type.String(),
  own: Type.Boolean({ description: "Whether it is the firm's own." }),
  credit_left: amount('What new requests may cost.'),
  monthly_limit: nullableText('Null for a prepaid account.'),
  used_percent: Type.Integer({
    description:
      'The share of the monthly limit, or of the credit since it was last changed, that is charged or held. Rounded down.',
  }),
})
export type AccountCredit = Type.Static<typeof accountCredit>

const firmFigures = Type.Object({
  accounts: Type.Array(accountCredit, {
    description:
      "The firm's own open accounts, and others of which 90 % or more is used: first those with the smallest share left; at most 10.",
  }),
  yesterday: Type.Object({
    day: Type.String({ format: 'date', description: 'Yesterday in UTC, as in the reports of usage.' }),
    cost: amount('What all accounts were charged on that day.'),
    requests: Type.Integer({ minimum: 0 }),
  }),
  overdue: Type.Object(
    {
      invoices: Type.Integer({ minimum: 0 }),
      amount: amount('What is open of them, a decimal number.'),
      oldest: Type.Union([Type.String({ format: 'date' }), Type.Null()], {
        description: 'The day on which the oldest of them was due; null if there is none.',
      }),
    },
    { description: "The overdue invoices in the firm's currency." },
  ),
})
export type FirmFigures = Type.Static<typeof firmFigures>

export const overviewPage = Type.Object({
  since: Type.String({
    format: 'date',
    description:
      "The last working day before today, Monday to Friday, in the firm's time zone. Changes are listed from its beginning.",
  }),
  currency: Type.String(),
  has_clients: Type.Boolean({ description: 'Whether any active client is within reach.' }),
  changes: Type.Object({
    clients: Type.Array(changedClient, { description: 'The last to change first; at most 15.' }),
    more: more('Whether more clients changed.'),
  }),
  tasks: dueTasks,
  open_disputes: openDisputes,
  letters_to_review: reviewedLetters(
    'The drafts that the person was asked to review, the longest waiting first.',
    'When they were asked.',
  ),
  letters_returned: reviewedLetters(
    'The drafts that were returned to the person, or wait for a reviewer who can no longer read the record, the last first.',
    'When the letter was returned, or the review was asked for.',
  ),
  letters_to_approve: waitingLetters,
  letters_to_send: waitingLetters,
  firm: Type.Optional(firmFigures),
})
export type OverviewData = Type.Static<typeof overviewPage>
