import type { Actor } from '../../access/actor.ts'
import type { TObject } from 'typebox'

/** How notes, disputes, letters, documents, tasks, contacts, time entries and expenses differ. */
export interface ItemKind {
  /** The name of the table, and the noun in the audit log. */
  readonly noun: 'note' | 'dispute' | 'letter' | 'document' | 'task' | 'contact' | 'time_entry' | 'expense'
  /** The path segment below the client's URL, and the name of the list in JSON. */
  readonly plural: 'notes' | 'disputes' | 'letters' | 'documents' | 'tasks' | 'contacts' | 'time_entries' | 'expenses'
  /** The columns that people can write. */
  readonly columns: readonly string[]
  /** Read-only columns. */
  readonly shown?: readonly string[]
  /** Read-only columns with the id of a person. The name is read with it, as `<column>_name`. */
  readonly people?: readonly string[]
  /** Read-only values: a name, and its SQL expression over the item `n`. */
  readonly computed?: Readonly<Record<string, string>>
  /** The columns with amounts of money. They are read as text, since JSON numbers can lose digits. */
  readonly money?: readonly string[]
  /** The audit actions of changes to these values of the column `status`, and of new items that have them. */
  readonly statusActions?: Readonly<Record<string, string>>
  /** The column by which a list has pages, the latest first: there can be more of them than a record is read with. */
  readonly pagedBy?: 'date' | 'created_at'
  /**
   * What a list says about all items that are not archived: a name, and its SQL aggregate over the items `n`. `unit` is the
   * minor unit of the currency in 10⁻¹². Amounts are text.
   */
  readonly totals?: (unit: bigint) => Readonly<Record<string, string>>
  /** The SQL sort order of a list. */
  readonly order: string
  /** The JSON schemas of an item and of a list. */
  readonly shape: TObject
  readonly listShape: TObject
  readonly newBody: TObject
  readonly changeBody: TObject
  /** Default values of a new item. */
  readonly defaults: Readonly<Record<string, unknown>>
  /** Converts a request body to columns. Throws Problem `invalid_field`. */
  toColumns(this: void, body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
  /** Throws Problem `missing_field` if a new item lacks a value that has no default. */
  checkNew?(this: void, columns: Readonly<Record<string, unknown>>, actor: Actor): void
  /** Converts columns to the fields of a response and of a revision. */
  toFields(this: void, columns: Readonly<Record<string, unknown>>, currency: string): Readonly<Record<string, unknown>>
  /** Converts totals to the fields of a response. */
  toTotals?(this: void, totals: Readonly<Record<string, unknown>>, currency: string): Readonly<Record<string, unknown>>
  /** The further fields of a list, which do not depend on its items. */
  toListFields?(this: void, currency: string): Readonly<Record<string, unknown>>
  /** Converts columns to the further fields of a response, which revisions do not have. */
  toStateFields?(this: void, columns: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>>
}
