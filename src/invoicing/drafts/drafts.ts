import { foldCharges } from '../../billing/appended-charges.ts'
import { violates } from '../../platform/database/failure.ts'
import type { AuditedAction, RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { newId } from '../../access/new-id.ts'
import type { Basis } from '../../platform/http/versions.ts'
import type { Database } from '../../platform/database/database.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { Problem } from '../../platform/problems.ts'
import { totalsOf } from '../arithmetic.ts'
import * as changes from '../changes-store.ts'
import { noDetails, readClientDetails, type ClientDetails } from './client-details.ts'
import { unbilledLines } from './client-lines.ts'
import { dayIn } from '../../platform/text/calendar.ts'
import { billedTogether, changedLines, checkTaxes, linesToCredit } from './lines.ts'
import {
  archivedClient,
  changedMeanwhile,
  isBilledMeanwhile,
  nothingUnbilled,
  invoiceRefusal,
  staleInvoice,
} from '../outcomes.ts'
import type { Supply } from '../document.ts'
import type { Buyer, CreditNoteBody, InvoiceChange, NewInvoice } from '../schema.ts'
import { isSameCredit, isSameDraft, otherDraft } from './same-draft.ts'
import { localeIn } from '../../platform/text/languages.ts'
import { otherCurrency } from '../issue/before-issue.ts'
import type { InvoiceSettings } from '../settings.ts'
import { readLastBilled } from '../store.ts'
import type { StoredInvoice, StoredInvoices } from '../stored.ts'
import { taxIn, typedLines } from './typed-lines.ts'
import { numbered, usageLines, type LooseLine } from './usage-lines.ts'
import { readIsOver, readIsOwn } from './store.ts'

interface DraftNeeds {
  readonly access: RecordAccess
  readonly database: Database
  readonly settings: InvoiceSettings
  readonly stored: StoredInvoices
}

/** Writes drafts. Each function returns the resulting draft. */
export function createDrafts({ access, database, settings, stored }: DraftNeeds) {
  const { currency, decimals } = settings
  return { create, change, credit }

  async function create(visit: Visit, body: NewInvoice, key: string | undefined): Promise<StoredInvoice> {
    const id = newId(visit, '/invoices', key)
    const subject = { ...payerOf(body), kind: 'invoice', creditsId: null, currency, decimals } as const
    const used = subject.month === null ? [] : await monthLines(subject.accountId, subject.month)
    const typed = typedLines(body.lines ?? [], settings)
    const details = await detailsOf(visit, subject.clientId)
    const head = headOf(body, { ...emptyHead, ...details }, details)
    const made = { id, isSame }
    const write = (billed: readonly LooseLine[]) => {
      const lines = numbered([...billed, ...typed])
      return insert(visit, made, subject, { ...head, lines, totals: totalsOf(lines, decimals) })
    }
    async function isSame(kept: StoredInvoice): Promise<boolean> {
      const [[last]] = await access.as(visit, [readLastBilled(kept.row.id)])
      return isSameDraft(kept, { subject, head, typed, until: body.unbilled_until }, last?.day ?? null)
    }
    if (body.unbilled_until === undefined) return write(used)
    const writeTogether = (unbilled: readonly LooseLine[]) => write(billedTogether(unbilled, typed))
    const locale = localeIn(head.language, settings.locale)
    return writeUnbilled(visit, made, { subject, body, locale, write: writeTogether })
  }

  /** Someone may change or bill an entry between the two statements: then what is unbilled is read again. */
  async function writeUnbilled(
    visit: Visit,
    made: MadeDraft,
    { subject: { clientId }, body, locale, write }: UnbilledDraft,
  ): Promise<StoredInvoice> {
    const until = dayIn(body.unbilled_until ?? '', 'unbilled_until')
    if (clientId === null) {
      throw new Problem('invalid_field', 'This field is only for clients: for an account, give a month.', {
        field: 'unbilled_until',
      })
    }
    for (let tries = mostTries; ; tries--) {
      const billed = await unbilledLines(access, visit, { clientId, until, settings: { ...settings, locale } })
      // A repeated request finds nothing left to bill, and the draft that the first one created.
      if (billed.length === 0 && (body.lines ?? []).length === 0) {
        return findMade(visit, made, nothingUnbilled())
      }
      try {
        return await write(billed)
      } catch (error) {
        if (!isBilledMeanwhile(error)) throw error
        if (tries === 1) return access.decline(visit, auditedOf('invoice_created', made.id), changedMeanwhile(error))
      }
    }
  }

  async function detailsOf(visit: Visit, clientId: string | null): Promise<ClientDetails> {
    return clientId === null ? noDetails : readClientDetails({ access, settings }, visit, clientId)
  }

  async function monthLines(accountId: string | null, month: string): Promise<LooseLine[]> {
    if (accountId === null) throw new Problem('invalid_field', 'Only accounts are billed by month.', { field: 'month' })
    await foldCharges(database)
    if (!(await readIsOver(database, month))) {
      throw new Problem('invalid_field', 'The month must have ended at least an hour ago, in UTC.', { field: 'month' })
    }
    if (await readIsOwn(database, accountId)) {
      throw new Problem('invalid_field', 'The firm’s own accounts are not billed for their usage.', {
        field: 'account',
      })
    }
    const { locale } = settings
    return usageLines(database, { accountId, month, decimals, locale, tax: taxIn(undefined, 'tax', settings) })
  }

  async function change(
    visit: Visit,
    id: string,
    { basis, body }: { basis: Basis; body: InvoiceChange },
  ): Promise<StoredInvoice> {
    const audited = auditedOf('invoice_changed', id)
    const before = await stored.find(visit, id, audited)
    if (basis && !basis.includes(before.row.version)) return access.decline(visit, audited, staleInvoice(before))
    if (before.row.currency !== currency) return access.decline(visit, audited, otherCurrency(before.row.currency))
    const lines = changedLines(before.document, body, settings)
    checkTaxes(lines)
    // The totals of a credit note depend on those before it, and its lines do not change.
    const totals = lines === before.document.lines ? before.document.totals : totalsOf(lines, before.row.decimals)
    const details = body.buyer?.address === null ? await detailsOf(visit, before.row.client_id) : noDetails
    const draft = { ...headOf(body, headBefore(before), details), lines, totals }
    const [[changed]] = await access.as(visit, [changes.updateDraft(visit, id, before.row.version, draft)])
    const after = await stored.find(visit, id, audited)
    return changed?.outcome === 'changed'
      ? after
      : access.decline(visit, audited, invoiceRefusal(changed?.outcome, after))
  }

  async function credit(
    visit: Visit,
    id: string,
    body: CreditNoteBody,
    key: string | undefined,
  ): Promise<StoredInvoice> {
    const creditId = newId(visit, `/invoices/${id}/credit`, key)
    const audited = auditedOf('invoice_created', creditId)
    const invoice = await stored.find(visit, id, auditedOf('invoice_read', id))
    const { row, document, credited } = invoice
    if (row.kind !== 'invoice' || row.state !== 'issued') {
      return access.decline(visit, audited, new Problem('conflict', 'Only an issued invoice can be credited.'))
    }
    const subject = {
      kind: 'credit_note',
      accountId: row.account_id,
      clientId: row.client_id,
      month: null,
      creditsId: id,
      currency: row.currency,
      decimals: row.decimals,
    } as const
    const head = headOf(
      body,
      {
        ...emptyHead,
        buyerName: row.buyer_name,
        buyerAddress: row.buyer_address,
        buyerTaxNumber: row.buyer_tax_number,
        buyerPlace: row.buyer_place,
        buyerReference: row.buyer_reference,
        orderNumber: row.order_number,
        language: row.language,
      },
      noDetails,
    )
    const isSame = (kept: StoredInvoice) => isSameCredit(kept, { body, head }, invoice)
    const lines = linesToCredit({ document, credited }, body)
    // A repeated request finds its lines credited, by the note that the first one created.
    if (lines instanceof Problem) return findMade(visit, { id: creditId, isSame }, lines)
    return insert(visit, { id: creditId, isSame }, subject, {
      ...head,
      lines,
      totals: totalsOf(lines, row.decimals, credited.taxes),
    })
  }

  async function insert(
    visit: Visit,
    made: MadeDraft,
    subject: changes.DraftSubject,
    draft: changes.DraftContent,
  ): Promise<StoredInvoice> {
    const { id } = made
    const audited = auditedOf('invoice_created', id)
    checkTaxes(draft.lines)
    const [[inserted]] = await access
      .as(visit, [changes.insertDraft(visit, id, subject, draft)])
      .catch(async (error: unknown) => access.decline(visit, audited, billedBefore(error)))
    if (inserted?.outcome === 'archived') return access.decline(visit, audited, archivedClient())
    if (inserted?.outcome === 'no_payer') return access.decline(visit, audited, noPayer(subject))
    return inserted?.outcome === 'exists' ? findMade(visit, made) : stored.find(visit, id, audited)
  }

  /** The draft of an earlier request with the same key. A request for another one must not seem to have created it. */
  async function findMade(visit: Visit, { id, isSame }: MadeDraft, missing?: Problem): Promise<StoredInvoice> {
    const audited = auditedOf('invoice_created', id)
    const kept = await stored.find(visit, id, audited, missing)
    return (await isSame(kept)) ? kept : access.decline(visit, audited, otherDraft(kept.row.kind))
  }
}

interface MadeDraft {
  readonly id: string
  /** Whether this request asks for the draft that has the id. */
  readonly isSame: (kept: StoredInvoice) => boolean | Promise<boolean>
}

interface UnbilledDraft {
  readonly subject: Pick<changes.DraftSubject, 'clientId'>
  readonly body: Pick<NewInvoice, 'unbilled_until' | 'lines'>
  readonly locale: string
  readonly write: (billed: readonly LooseLine[]) => Promise<StoredInvoice>
}

const mostTries = 5

const emptyHead: changes.DraftHead = {
  note: '',
  buyerName: null,
  ...noDetails,
  supplyFrom: null,
  supplyTo: null,
}

const headBefore = ({ row }: StoredInvoice): changes.DraftHead => ({
  note: row.note,
  buyerName: row.buyer_name,
  buyerAddress: row.buyer_address,
  buyerTaxNumber: row.buyer_tax_number,
  buyerPlace: row.buyer_place,
  buyerReference: row.buyer_reference,
  orderNumber: row.order_number,
  daysToPay: row.days_to_pay,
  language: row.language,
  supplyFrom: row.supply_from,
  supplyTo: row.supply_to,
})

/** Absent fields keep their values. An address of null is that of the payer. */
function headOf(
  { note, buyer = {}, days_to_pay: daysToPay, supply }: WrittenHead,
  before: changes.DraftHead,
  payers: Pick<ClientDetails, 'buyerAddress' | 'buyerPlace'>,
): changes.DraftHead {
  return {
    note: note ?? before.note,
    buyerName: given(buyer.name, before.buyerName),
    ...addressIn(buyer.address, before, payers),
    buyerTaxNumber: given(buyer.tax_number, before.buyerTaxNumber),
    buyerReference: given(buyer.reference, before.buyerReference),
    orderNumber: given(buyer.order_number, before.orderNumber),
    daysToPay: given(daysToPay, before.daysToPay),
    language: before.language,
    ...supplyIn(supply, before),
  }
}

function addressIn(
  address: string | null | undefined,
  before: changes.DraftHead,
  payers: Pick<ClientDetails, 'buyerAddress' | 'buyerPlace'>,
): Pick<changes.DraftHead, 'buyerAddress' | 'buyerPlace'> {
  const { buyerAddress, buyerPlace } = address === null ? payers : before
  const isWritten = typeof address === 'string' && address !== buyerAddress
  return isWritten ? { buyerAddress: address, buyerPlace: null } : { buyerAddress, buyerPlace }
}

interface WrittenHead {
  readonly note?: string
  readonly buyer?: Buyer
  readonly days_to_pay?: number | null
  readonly supply?: Supply | null
}

const given = <Value>(written: Value | undefined, before: Value): Value => (written === undefined ? before : written)

/** Throws Problem `invalid_field`. */
function supplyIn(
  supply: Supply | null | undefined,
  { supplyFrom, supplyTo }: changes.DraftHead,
): Pick<changes.DraftHead, 'supplyFrom' | 'supplyTo'> {
  if (supply === undefined) return { supplyFrom, supplyTo }
  if (supply === null) return { supplyFrom: null, supplyTo: null }
  const [from, to] = [dayIn(supply.from, 'supply.from'), dayIn(supply.to, 'supply.to')]
  if (to < from)
    throw new Problem('invalid_field', 'The field supply.to must not be before supply.from.', { field: 'supply.to' })
  return { supplyFrom: from, supplyTo: to }
}

function payerOf({ client, account, month }: NewInvoice) {
  if ((client === undefined) === (account === undefined)) {
    throw new Problem('invalid_field', 'Name either a client or an account.', { field: 'client' })
  }
  const payers = {
    clientId: client ?? null,
    accountId: account ?? null,
    month: month === undefined ? null : `${month}-01`,
  }
  if (!isUuid(client ?? account ?? '')) throw noPayer(payers)
  return payers
}

function noPayer({ clientId }: { readonly clientId: string | null }): Problem {
  const field = clientId === null ? 'account' : 'client'
  return new Problem('invalid_field', `No ${field} has this id.`, { field })
}

const auditedOf = (action: string, nounId: string): AuditedAction => ({ action, noun: 'invoice', nounId })

/** Throws an error that is not about a month that is billed already. */
function billedBefore(error: unknown): Problem {
  if (!violates(error, 'billed_month_pkey')) throw error
  return new Problem(
    'conflict',
    'Another invoice bills this month of the account: void it or credit it in full first.',
    {
      field: 'month',
      cause: error,
    },
  )
}
