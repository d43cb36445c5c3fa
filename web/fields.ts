import type { RevisedNoun } from '../src/clients/schema.ts'
import { clearAmount, plainAmount } from '../src/platform/text/typed-amount.ts'
import { minutesIn } from './duration.ts'
import { decimalMark } from './locale.ts'
import {
  clientStatusNames,
  contactLanguageNames,
  disputeStatusNames,
  invoiceLanguageNames,
  letterStatusNames,
  taskPriorityNames,
  taskStatusNames,
} from './words.ts'

/** The value of a form field. */
export type Value = string | readonly string[]
export type Values = Readonly<Record<string, Value>>
/** The value of a field as it is sent. */
export type Sent = Value | number | boolean | null

export interface Field {
  readonly name: string
  readonly label: string
  /** The name within a sentence. Default: the label in lower case. */
  readonly word?: string
  readonly kind:
    | 'line'
    | 'lines'
    | 'text'
    | 'date'
    | 'moment'
    | 'names'
    | 'amount'
    | 'choice'
    | 'several'
    | 'consultant'
    | 'partner'
    | 'invoice'
    | 'whole'
    | 'minutes'
    | 'flag'
  readonly required?: boolean
  /** Whether an empty field is sent as `null`. */
  readonly nullable?: boolean
  /** Whether an empty field is left out of what is sent. */
  readonly optional?: boolean
  readonly choices?: Readonly<Record<string, string>>
  readonly placeholder?: string
  readonly maxLength?: number
  /** Names to choose from. Others can be typed. */
  readonly suggestions?: readonly string[]
}

/** What every invoice to a client states. */
export const billingFields: readonly Field[] = [
  { name: 'vat_number', label: 'VAT number', word: 'VAT number', kind: 'line', nullable: true, maxLength: 50 },
  { name: 'billing_street', label: 'Street', word: 'billing street', kind: 'line', nullable: true, maxLength: 200 },
  {
    name: 'billing_extra',
    label: 'Further line',
    word: 'billing address',
    kind: 'line',
    nullable: true,
    maxLength: 200,
  },
  {
    name: 'billing_postcode',
    label: 'Postcode',
    word: 'billing postcode',
    kind: 'line',
    nullable: true,
    maxLength: 20,
  },
  { name: 'billing_city', label: 'Town', word: 'billing town', kind: 'line', nullable: true, maxLength: 100 },
  {
    name: 'billing_country',
    label: 'Country code',
    word: 'billing country',
    kind: 'line',
    nullable: true,
    maxLength: 2,
    placeholder: 'DE',
  },
  { name: 'buyer_reference', label: 'Buyer reference', kind: 'line', nullable: true, maxLength: 100 },
  { name: 'order_number', label: 'Order number', kind: 'line', nullable: true, maxLength: 100 },
  {
    name: 'billing_language',
    label: 'Invoice language',
    kind: 'choice',
    nullable: true,
    choices: { '': 'That of the firm', ...invoiceLanguageNames },
  },
  { name: 'days_to_pay', label: 'Days to pay', kind: 'whole', nullable: true, maxLength: 3, placeholder: 'Default' },
]

/** The fields that the versions of a client show, including those missing from its form. */
export const clientVersionFields = (): readonly Field[] => [
  ...nouns.client.fields,
  ...billingFields,
  { name: 'status', label: 'Status', kind: 'choice', choices: clientStatusNames },
]

/** Who does a task. Partners choose. */
export const taskOwner: Field = { name: 'owner_id', label: 'Owner', kind: 'partner', nullable: true }

/** The fields that a person writes of a letter. Its status changes by actions. */
export const letterFields = (): readonly Field[] => nouns.letter.fields.filter(({ name }) => name !== 'status')

interface NounWords {
  readonly one: string
  readonly many: string
  readonly path: string
  readonly fields: readonly Field[]
}

/** The nouns of a record, with their names, paths and form fields. */
export const nouns: Readonly<Record<RevisedNoun, NounWords>> = {
  client: {
    one: 'client',
    many: 'clients',
    path: '',
    fields: [
      { name: 'name', label: 'Name', kind: 'line', required: true, maxLength: 200 },
      { name: 'reference', label: 'Reference', kind: 'line', nullable: true, maxLength: 100 },
      { name: 'email', label: 'Email', kind: 'line', nullable: true, maxLength: 254 },
      {
        name: 'address',
        label: 'Address',
        kind: 'lines',
        nullable: true,
        maxLength: 500,
        placeholder: 'Street and number\nTown and postcode',
      },
      { name: 'consultant_id', label: 'Consultant', kind: 'consultant' },
    ],
  },
  note: {
    one: 'note',
    many: 'notes',
    path: 'notes',
    fields: [
      { name: 'date', label: 'Date', kind: 'date', required: true },
      {
        name: 'participants',
        label: 'Participants',
        kind: 'names',
        placeholder: 'Name, then Enter',
      },
      {
        name: 'text',
        label: 'Note',
        word: 'text',
        kind: 'text',
        required: true,
        placeholder: 'What was said and agreed',
      },
    ],
  },
  dispute: {
    one: 'dispute',
    many: 'disputes',
    path: 'disputes',
    fields: [
      { name: 'invoice', label: 'Invoice', kind: 'invoice', required: true, maxLength: 100 },
      { name: 'amount', label: 'Amount', kind: 'amount', required: true, placeholder: '1250.00', maxLength: 30 },
      { name: 'status', label: 'Status', kind: 'choice', choices: disputeStatusNames },
      { name: 'due', label: 'Deadline', kind: 'date', nullable: true },
      { name: 'position', label: 'Position', kind: 'text', placeholder: 'The client’s position and ours' },
    ],
  },
  letter: {
    one: 'letter',
    many: 'letters',
    path: 'letters',
    fields: [
      { name: 'subject', label: 'Subject', kind: 'line', required: true, maxLength: 300 },
      { name: 'status', label: 'Status', kind: 'choice', choices: letterStatusNames },
      { name: 'body', label: 'Letter', word: 'text', kind: 'text' },
    ],
  },
  document: {
    one: 'document',
    many: 'documents',
    path: 'documents',
    fields: [{ name: 'name', label: 'Name', kind: 'line', required: true, maxLength: 255 }],
  },
  task: {
    one: 'task',
    many: 'tasks',
    path: 'tasks',
    fields: [
      { name: 'title', label: 'Task', kind: 'line', required: true, maxLength: 300 },
      { name: 'due', label: 'Due', word: 'day', kind: 'date', nullable: true },
      { name: 'priority', label: 'Priority', kind: 'choice', choices: taskPriorityNames },
      { name: 'status', label: 'Status', kind: 'choice', choices: taskStatusNames },
    ],
  },
  contact: {
    one: 'contact',
    many: 'contacts',
    path: 'contacts',
    fields: [
      { name: 'name', label: 'Name', kind: 'line', required: true, maxLength: 200 },
      {
        name: 'job_title',
        label: 'Job title',
        kind: 'line',
        nullable: true,
        maxLength: 100,
        placeholder: 'Head of accounts',
      },
      { name: 'email', label: 'Email', kind: 'line', nullable: true, maxLength: 254 },
      { name: 'phone', label: 'Telephone', kind: 'line', nullable: true, maxLength: 50 },
      {
        name: 'language',
        label: 'Language',
        kind: 'choice',
        nullable: true,
        choices: { '': 'Not known', ...contactLanguageNames },
      },
    ],
  },
  time_entry: {
    one: 'time entry',
    many: 'time entries',
    path: 'time_entries',
    fields: [
      { name: 'date', label: 'Date', kind: 'date', required: true },
      { name: 'minutes', label: 'Minutes', kind: 'minutes', required: true, placeholder: '90 or 1:30', maxLength: 20 },
      { name: 'text', label: 'Work', kind: 'line', required: true, maxLength: 280 },
      { name: 'rate', label: 'Hourly rate', kind: 'amount', optional: true, placeholder: 'Default', maxLength: 30 },
      { name: 'billable', label: 'Billable', kind: 'flag' },
    ],
  },
  expense: {
    one: 'expense',
    many: 'expenses',
    path: 'expenses',
    fields: [
      { name: 'date', label: 'Date', kind: 'date', required: true },
      { name: 'amount', label: 'Amount', kind: 'amount', required: true, placeholder: '34.50', maxLength: 30 },
      { name: 'text', label: 'Expense', kind: 'line', required: true, maxLength: 280 },
      { name: 'tax', label: 'Tax', kind: 'line', nullable: true, placeholder: 'Default', maxLength: 100 },
      { name: 'billable', label: 'Billable', kind: 'flag' },
    ],
  },
}

/** The form values of a record or item. */
export function valuesOf(fields: readonly Field[], record: object): Values {
  const all = new Map(Object.entries(record))
  return Object.fromEntries(fields.map((field) => [field.name, valueOf(field, all)]))
}

function valueOf({ name, kind }: Field, record: ReadonlyMap<string, unknown>): Value {
  const value = kind === 'consultant' ? idIn(record.get('consultant')) : record.get(name)
  if (Array.isArray(value)) return value.map(String)
  if (kind === 'amount' && typeof value === 'string') return clearAmount(value, decimalMark())
  return ['string', 'number', 'boolean'].includes(typeof value) ? String(value) : ''
}

function idIn(person: unknown): unknown {
  return typeof person === 'object' && person !== null && 'id' in person ? person.id : undefined
}

/** The request body of a change: the changed fields. Throws UnclearValue. */
export function bodyOf(fields: readonly Field[], values: Values, before: Values): Record<string, Value | null> {
  return Object.fromEntries(
    fields
      .filter(({ name, optional }) => !isSame(values[name], before[name]) && !(optional && values[name] === ''))
      .map((field) => {
        const value = typedValue(field, values[field.name] ?? '')
        return [field.name, field.nullable && value === '' ? null : value]
      }),
  )
}

/** An amount that could be two, or a duration that cannot be read. The message says what to write instead. */
export class UnclearValue extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/** What a form sends, with numbers and booleans in place of their texts. */
export function sentBody(fields: readonly Field[], body: Readonly<Record<string, Value | null>>): Record<string, Sent> {
  const sent: Record<string, Sent> = {}
  for (const [name, value] of Object.entries(body)) {
    sent[name] = sentValue(fields.find((field) => field.name === name)?.kind, value)
  }
  return sent
}

function sentValue(kind: Field['kind'] | undefined, value: Value | null): Sent {
  if (kind === 'flag') return value === 'true'
  // What is no number is sent as it is, for the server to refuse.
  return (kind === 'whole' || kind === 'minutes') && typeof value === 'string' && /^\d+$/.test(value)
    ? Number(value)
    : value
}

function typedValue(field: Field, value: Value): Value {
  if (field.kind === 'amount') return sentAmount(field, value)
  return field.kind === 'minutes' ? sentMinutes(field, value) : value
}

function sentMinutes({ name, label }: Field, value: Value): Value {
  if (typeof value !== 'string' || value.trim() === '') return value
  const minutes = minutesIn(value)
  if (minutes === undefined)
    throw new UnclearValue(name, `${label} must be whole minutes, such as 90, or hours, such as 1:30 or 1.5 h.`)
  return String(minutes)
}

/** The plain decimal of an amount as it is typed. What is not an amount is sent as it is, for the server to refuse. */
function sentAmount({ name, label }: Field, value: Value): Value {
  if (typeof value !== 'string') return value
  try {
    return plainAmount(value, decimalMark())
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UnclearValue(name, `${label} ${error.message}.`)
  }
}

/** Whether two values of a field are equal in meaning: `5` and `5.00` are the same amount. */
export function meansSame({ kind }: Field, a: Value | undefined, b: Value | undefined): boolean {
  if (kind === 'minutes' && typeof a === 'string' && typeof b === 'string')
    return (minutesIn(a) ?? a) === (minutesIn(b) ?? b)
  return kind === 'amount' ? amountIn(a) === amountIn(b) : isSame(a, b)
}

/** The normal form of an amount. */
function amountIn(value: Value | undefined): Value {
  const amount = typeof value === 'string' ? plainOrTyped(value) : (value ?? '')
  if (typeof amount !== 'string' || !/^\d+(?:\.\d+)?$/.test(amount)) return amount
  const [whole = '', fraction = ''] = amount.split('.')
  return `${whole.replace(/^0+/, '')}.${fraction.replace(/0+$/, '')}`
}

function plainOrTyped(value: string): string {
  try {
    return plainAmount(value, decimalMark())
  } catch {
    return value
  }
}

export function isSame(a: Sent | undefined, b: Sent | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}
