import type { AuditedAction, RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import type { Basis } from '../platform/http/versions.ts'
import { dayIn, today } from '../platform/text/calendar.ts'
import type { Database } from '../platform/database/database.ts'
import { isUuid, idIfAny } from '../platform/database/uuid.ts'
import { Problem } from '../platform/problems.ts'
import { placing } from '../platform/text/spelling.ts'
import type { InvoicePaper } from '../documents/invoice-paper.ts'
import { issueRefusal, withoutFont } from './issue/before-issue.ts'
import * as changes from './changes-store.ts'
import { readDraftOptions } from './drafts/options.ts'
import { createDrafts } from './drafts/drafts.ts'
import { readBooked, type BookedRow } from './reports/store.ts'
import { issueTerms } from './issue/terms.ts'
import { invoiceRefusal, numberInUse, staleInvoice } from './outcomes.ts'
import { invoicePaper } from './files/paper.ts'
import { createPayments } from './payments.ts'
import { presentInvoice, presentListedInvoice } from './present.ts'
import type {
  CreditNoteBody,
  DraftOptions,
  DraftOptionsQuery,
  ExportQuery,
  InvoiceChange,
  InvoiceList,
  InvoiceQuery,
  NewInvoice,
  PaymentBody,
  ShownInvoice,
} from './schema.ts'
import type { InvoiceSettings } from './settings.ts'
import { createInvoiceReports, type InvoiceReports } from './reports/reports.ts'
import * as store from './store.ts'
import { createStoredInvoices, type StoredInvoice } from './stored.ts'
import { createUnbilled, type UnbilledItems } from './unbilled/unbilled.ts'

export { bookedFile, bookedValues } from './reports/csv.ts'

/**
 * Invoices to clients and accounts, for partners. Every action is in the audit log, allowed or refused. Methods with an id
 * throw Problem `not_found`; changes throw `stale_version` with the current invoice unless its version is one of `basis`,
 * `conflict` if its state does not allow the change, and `invalid_field`.
 */
export interface Invoices {
  readonly unbilled: UnbilledItems
  /** One page, newest first. */
  list(visit: Visit, query: InvoiceQuery): Promise<InvoiceList>
  /** What a new draft can have. */
  begin(visit: Visit, query: DraftOptionsQuery): Promise<DraftOptions>
  /** What was issued in a span of days, for the bookkeeper. */
  export(visit: Visit, query: ExportQuery): Promise<readonly BookedRow[]>
  readonly reports: InvoiceReports
  read(visit: Visit, id: string): Promise<ShownInvoice>
  /** Creates a draft. Idempotent per person and `key`. */
  create(visit: Visit, body: NewInvoice, key?: string): Promise<ShownInvoice>
  /** Changes a draft. Absent fields keep their values. */
  change(visit: Visit, id: string, change: { basis: Basis; body: InvoiceChange }): Promise<ShownInvoice>
  /** Gives a draft its number and freezes it. */
  issue(visit: Visit, id: string, basis: Basis): Promise<ShownInvoice>
  /** Gives a draft up. It remains readable and gets no number. */
  void(visit: Visit, id: string, basis: Basis): Promise<ShownInvoice>
  /** Records a payment of an issued invoice. Idempotent per person and `key`. */
  pay(visit: Visit, id: string, body: PaymentBody, key?: string): Promise<ShownInvoice>
  /** Creates the draft of a credit note for an issued invoice. Idempotent per person and `key`. */
  credit(visit: Visit, id: string, body: CreditNoteBody, key?: string): Promise<ShownInvoice>
}

/** A change of a draft. */
interface Changing {
  readonly audited: AuditedAction
  readonly id: string
  readonly basis: Basis
  /** Why the draft cannot be changed; undefined if it can. */
  readonly obstacle?: (draft: StoredInvoice) => Promise<Problem | undefined>
}

interface InvoicesNeeds {
  readonly access: RecordAccess
  readonly database: Database
  readonly settings: InvoiceSettings
  /** The characters of an invoice that no font of its PDF has. */
  readonly unprintable: (invoice: InvoicePaper) => Promise<readonly string[]>
  /** The day of issue, for the samples of the demo. Default: today. */
  readonly issueDay?: () => string
}

const pageSize = 50

export function createInvoices({ access, database, settings, unprintable, issueDay }: InvoicesNeeds): Invoices {
  const stored = createStoredInvoices({ access, settings })
  const drafts = createDrafts({ access, database, settings, stored })
  const payments = createPayments({ access, settings, stored })

  async function list(visit: Visit, query: InvoiceQuery): Promise<InvoiceList> {
    const filter = {
      status: query.status,
      clientId: idIfAny(query.client),
      accountId: idIfAny(query.account),
      q: query.q?.trim() || undefined,
      number: query.number?.trim() || undefined,
      after: cursorIn(query.cursor),
    }
    const day = today(settings.timeZone)
    const [rows, numbered] = await access.as(visit, [
      store.readInvoices(day, filter, pageSize + 1),
      store.readNumbered(day, filter.q ?? filter.number ?? ''),
    ])
    // Those with exactly this number are first on the first page, and on no other.
    const first = numbered.filter((row) => isKept(row, filter))
    const others = rows.filter(({ id }) => first.every((row) => row.id !== id))
    const shown = [...(filter.after === undefined ? first : []), ...others].slice(0, pageSize)
    await access.note(visit, { action: 'invoices_listed', noun: 'invoice', details: { rows: String(shown.length) } })
    const next = rows.length > pageSize ? (shown.at(-1)?.id ?? null) : null
    return { invoices: shown.map(presentListedInvoice), next }
  }

  async function exportAll(visit: Visit, query: ExportQuery): Promise<readonly BookedRow[]> {
    const [from, to] = [dayIn(query.from, 'from'), dayIn(query.to, 'to')]
    if (to < from) throw new Problem('invalid_field', 'The field to must not be before from.', { field: 'to' })
    const [rows] = await access.as(visit, [readBooked(from, to)])
    await access.note(visit, { action: 'invoices_exported', noun: 'invoice', details: { from, to } })
    return rows
  }

  async function read(visit: Visit, id: string): Promise<ShownInvoice> {
    const audited = auditedOf('invoice_read', id)
    const found = await stored.find(visit, id, audited)
    await access.note(visit, audited)
    return presentInvoice(found)
  }

  /** Reads a draft, makes the statement that changes it, and runs that. */
  async function changeDraft(
    visit: Visit,
    { audited, id, basis, obstacle }: Changing,
    statement: (before: StoredInvoice) => ReturnType<typeof changes.voidDraft>,
  ): Promise<ShownInvoice> {
    const before = await stored.find(visit, id, audited)
    if (basis && !basis.includes(before.row.version)) return access.decline(visit, audited, staleInvoice(before))
    const refused = await obstacle?.(before)
    if (refused) return access.decline(visit, audited, refused)
    const [[changed]] = await access
      .as(visit, [statement(before)])
      .catch(async (error: unknown) => access.decline(visit, audited, numberInUse(error, before.row.kind)))
    const after = await stored.find(visit, id, audited)
    const isDone = changed?.outcome === 'issued' || changed?.outcome === 'voided'
    return isDone ? presentInvoice(after) : access.decline(visit, audited, invoiceRefusal(changed?.outcome, after))
  }

  async function obstacleToIssue({ row, document, faults }: StoredInvoice): Promise<Problem | undefined> {
    if (row.state !== 'draft') return undefined
    const missing = await unprintable(invoicePaper(document, settings))
    // The buyer and the lines of a credit note are those of its invoice, and cannot be corrected.
    const own = document.kind === 'invoice' ? missing : missing.filter((character) => document.note.includes(character))
    return issueRefusal(own.length === 0 ? faults : [...faults, withoutFont(own)])
  }

  async function issue(visit: Visit, id: string, basis: Basis): Promise<ShownInvoice> {
    return changeDraft(
      visit,
      { audited: auditedOf('invoice_issued', id), id, basis, obstacle: obstacleToIssue },
      ({ row }) =>
        changes.issueDraft(
          visit,
          id,
          row.version,
          issueTerms(settings, row.kind, { on: issueDay?.(), language: row.language }),
        ),
    )
  }

  return Object.freeze<Invoices>({
    unbilled: createUnbilled({ access, settings }),
    list,
    begin: (visit, query) => readDraftOptions({ access, database, settings }, visit, query),
    export: exportAll,
    reports: createInvoiceReports({ access, settings }),
    read,
    create: async (visit: Visit, body: NewInvoice, key?: string) =>
      presentInvoice(await drafts.create(visit, body, key)),
    change: async (visit, id, change) => presentInvoice(await drafts.change(visit, id, change)),
    issue,
    void: (visit, id, basis) =>
      changeDraft(visit, { audited: auditedOf('invoice_voided', id), id, basis }, ({ row }) =>
        changes.voidDraft(visit, id, row.version),
      ),
    pay: async (visit: Visit, id: string, body: PaymentBody, key?: string) =>
      presentInvoice(await payments.pay(visit, id, body, key)),
    credit: async (visit: Visit, id: string, body: CreditNoteBody, key?: string) =>
      presentInvoice(await drafts.credit(visit, id, body, key)),
  })
}

const auditedOf = (action: string, nounId: string): AuditedAction => ({ action, noun: 'invoice', nounId })

/** Whether an invoice whose number is searched passes the other filters. */
const isKept = (
  { client_id: client, account_id: account, status, number }: store.ListedInvoiceRow,
  filter: store.InvoiceFilter,
) =>
  (filter.clientId === undefined || filter.clientId === client) &&
  (filter.accountId === undefined || filter.accountId === account) &&
  (filter.status === undefined || filter.status === status) &&
  (filter.number === undefined || placing(filter.number)([number ?? '']) !== undefined)

function cursorIn(cursor: string | undefined): string | undefined {
  if (cursor === undefined || isUuid(cursor)) return cursor
  throw new Problem('invalid_field', 'The field cursor must be `next` of the previous page.', { field: 'cursor' })
}
