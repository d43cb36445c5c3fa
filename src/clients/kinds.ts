import type { TObject } from 'typebox'

/** What a note, a dispute or a letter is, beside what all three have in common. */
export interface Kind {
  /** Its table, and what the audit log calls it. */
  readonly noun: 'note' | 'dispute' | 'letter'
  /** Its address below the client's, and the name of its list. */
  readonly plural: 'notes' | 'disputes' | 'letters'
  /** Its columns that a person fills in. */
  readonly columns: readonly string[]
  /** Columns that a person is only shown. */
  readonly shown?: readonly string[]
  /** Amounts of money among the columns: they leave PostgreSQL as texts, since a number in JSON may lose digits. */
  readonly money?: readonly string[]
  /** How a list is sorted. */
  readonly order: string
  /** One of them as it leaves, and a list of them. */
  readonly shape: TObject
  readonly listShape: TObject
  readonly newBody: TObject
  readonly changeBody: TObject
  /** What a new one has where its author says nothing. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** A body as its columns. Throws Problem `invalid_field`. */
  toColumns(this: void, body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** The columns as they are shown; amounts in that currency. */
  toFields(this: void, columns: Readonly<Record<string, unknown>>, currency: string): Readonly<Record<string, unknown>>
}
