import { foldCharges } from '../../billing/appended-charges.ts'
import { randomUUIDv7 } from 'node:crypto'
import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import type { Queryable } from '../../platform/database/database.ts'
import { codeOf, isRefusal, violates } from '../../platform/database/failure.ts'
import { Problem } from '../../platform/problems.ts'
import { totalsOf } from '../arithmetic.ts'
import { issueTerms } from '../issue/terms.ts'
import { noSeller } from '../issue/before-issue.ts'
import { leftDrafts, printableIn, type LeftDraft, type FindUnprintable } from './left-drafts.ts'
import { numberInUse } from '../outcomes.ts'
import * as store from './store.ts'
import type { InvoiceSettings } from '../settings.ts'
import { taxIn } from '../drafts/typed-lines.ts'
import { numbered, usageLinesOf, type LooseLine } from '../drafts/usage-lines.ts'
import { readIsOver, readUnbilled, type UnbilledAccount } from '../drafts/store.ts'

export type { LeftDraft } from './left-drafts.ts'
export type { RunInvoice } from './store.ts'
export type { UnbilledAccount } from '../drafts/store.ts'

interface MonthlyRunNeeds {
  readonly access: Pick<RecordAccess, 'as' | 'decline' | 'note'>
  readonly database: Queryable
  readonly settings: InvoiceSettings
  /** `2026-03`. */
  readonly month: string
  /** Whether to issue the drafts. */
  readonly issue: boolean
  /** Asked before drafts are issued. */
  readonly unprintable: FindUnprintable
}

/** An account whose invoice the database refused to store. */
export interface RefusedAccount {
  readonly id: string
  readonly name: string
  readonly error: Error
}

/** Some accounts that were billed. */
export interface RunProgress {
  /** What this run created or issued. */
  readonly invoices: readonly store.RunInvoice[]
  /** Which of the accounts could not be billed: something is wrong with their data or with Tollgate. */
  readonly refused: readonly RefusedAccount[]
  /** The drafts that were not issued: a person has to correct them first. */
  readonly left: readonly LeftDraft[]
  /** How many accounts and earlier drafts are done, and how many there are. */
  readonly done: number
  readonly of: number
}

/** How many accounts are billed in one transaction. */
const batchSize = 50
/** For how many accounts the usage is read at once. Where prices changed, that reads the month's ledger once. */
const readSize = 10_000

/** The accounts that used something in a month that no invoice bills yet. Throws Problem `invalid_field` before it is over. */
export async function unbilledAccounts({
  database,
  month,
}: Pick<MonthlyRunNeeds, 'database' | 'month'>): Promise<UnbilledAccount[]> {
  const firstDay = `${month}-01`
  await foldCharges(database)
  if (!(await readIsOver(database, firstDay))) {
    throw new Problem('invalid_field', 'The month must have ended at least an hour ago, in UTC.', { field: 'month' })
  }
  return readUnbilled(database, firstDay)
}

/**
 * Drafts an invoice for every account that used something in a month. With `issue`, each is issued in the transaction that
 * creates it, and so are the drafts that earlier runs of the month left. It can be run again, by several at once, and be
 * killed at any moment: a month is on one invoice only. An account that cannot be billed, and a draft that cannot be issued, do not keep
 * the others from it. Records the result in the audit log, unless there is none.
 */
export async function* billMonth(visit: Visit, needs: MonthlyRunNeeds): AsyncIterable<RunProgress> {
  const { access, month, issue } = needs
  const accounts = await unbilledAccounts(needs)
  const earlier = issue ? await earlierDrafts(visit, needs) : []
  const of = accounts.length + earlier.length
  const count = { drafted: 0, issued: 0, refused: 0 }
  let done = 0
  async function progress(
    batch: readonly unknown[],
    { results: invoices, refused }: Done<store.RunInvoice>,
  ): Promise<RunProgress> {
    const unissued = invoices.filter(({ number }) => number === null)
    count.issued += invoices.length - unissued.length
    count.refused += refused.length
    done += batch.length
    const left = issue ? await leftDrafts(visit, needs, unissued) : []
    return { invoices, refused, left, done, of }
  }
  for (const batch of batches(earlier, batchSize)) {
    const drafts = batch.map(({ id: draft, accountId: id, name }) => ({ id, name, draft }))
    const issueSome = (some: readonly (typeof drafts)[number][]) =>
      issueBatch(
        visit,
        needs,
        some.map(({ draft }) => draft),
      )
    const { results, refused } = await withoutRefused(drafts, issueSome)
    const { invoices, ...rest } = await progress(batch, { results, refused })
    // An earlier run created them.
    yield { ...rest, invoices: invoices.filter(({ number }) => number !== null) }
  }
  for (const part of batches(accounts, readSize)) {
    const lines = await linesOf(part, needs)
    const billSome = (some: readonly UnbilledAccount[]) =>
      billBatch(
        visit,
        needs,
        some.map(({ id }) => draftOf(id, lines.get(id) ?? [], needs)),
      )
    for (const batch of batches(part, batchSize)) {
      const billed = await withoutRefused(batch, billSome)
      count.drafted += billed.results.length
      yield await progress(batch, billed)
    }
  }
  if (count.refused > 0 && count.drafted + count.issued === 0) return
  const details = { month, drafted: String(count.drafted), issued: String(count.issued) }
  await access.note(visit, { action: 'invoices_run', noun: 'invoice', details })
}

interface Done<Result> {
  readonly results: readonly Result[]
  readonly refused: readonly RefusedAccount[]
}

/** Works on some accounts at once, or on ever fewer, until only those are left out that the database refuses. */
async function withoutRefused<Account extends { readonly id: string; readonly name: string }, Result>(
  accounts: readonly Account[],
  work: (accounts: readonly Account[]) => Promise<readonly Result[]>,
): Promise<Done<Result>> {
  try {
    return { results: await work(accounts), refused: [] }
  } catch (error) {
    const [only] = accounts
    if (!isRefusal(error) || !(error instanceof Error) || !only) throw error
    if (accounts.length === 1) return { results: [], refused: [{ id: only.id, name: only.name, error }] }
    const half = Math.ceil(accounts.length / 2)
    const first = await withoutRefused(accounts.slice(0, half), work)
    const second = await withoutRefused(accounts.slice(half), work)
    return { results: [...first.results, ...second.results], refused: [...first.refused, ...second.refused] }
  }
}

/** The drafts for a month that runs left, which a run with `issue` issues. Throws Problem `conflict` if it cannot issue any. */
export async function earlierDrafts(
  visit: Visit,
  { access, month, settings }: Pick<MonthlyRunNeeds, 'access' | 'month' | 'settings'>,
): Promise<readonly store.RunInvoice[]> {
  if (settings.seller === undefined) throw noSeller()
  const [rows] = await access.as(visit, [store.readRunDrafts(`${month}-01`)])
  return rows
}

async function issueBatch(
  visit: Visit,
  { access, settings, unprintable }: MonthlyRunNeeds,
  ids: readonly string[],
): Promise<readonly store.RunInvoice[]> {
  const [, written] = await access.as(visit, [store.lookUpRows, store.readDraftTexts(ids)])
  const printable = new Set(await printableIn(unprintable, written))
  const issue = store.issueRunDrafts(
    visit,
    ids.filter((id) => printable.has(id)),
    termsOf(settings),
  )
  const [, , invoices] = await access
    .as(visit, [store.lookUpRows, issue, store.readRunInvoices(ids)])
    .catch((error: unknown) => {
      throw numberInUse(error, 'invoice')
    })
  return invoices
}

/** Tries again without the accounts that another run was first to bill. */
async function billBatch(
  visit: Visit,
  needs: MonthlyRunNeeds,
  drafts: readonly store.RunDraft[],
): Promise<readonly store.RunInvoice[]> {
  for (;;) {
    try {
      return await storeDrafts(visit, needs, drafts)
    } catch (error) {
      if (!isBilledMeanwhile(error)) throw numberInUse(error, 'invoice')
    }
  }
}

function linesOf(accounts: readonly UnbilledAccount[], { database, settings, month }: MonthlyRunNeeds) {
  const { decimals, locale } = settings
  const tax = taxIn(undefined, 'tax', settings)
  const ids = accounts.map(({ id }) => id)
  return usageLinesOf(database, ids, { month: firstDayOf(month), tax, decimals, locale })
}

function draftOf(accountId: string, used: readonly LooseLine[], { settings, month }: MonthlyRunNeeds): store.RunDraft {
  const { currency, decimals } = settings
  const lines = numbered(used)
  const totals = totalsOf(lines, decimals)
  return { id: randomUUIDv7(), accountId, month: firstDayOf(month), currency, decimals, lines, totals }
}

async function storeDrafts(
  visit: Visit,
  { access, issue, settings, unprintable }: MonthlyRunNeeds,
  drafts: readonly store.RunDraft[],
): Promise<readonly store.RunInvoice[]> {
  const ids = drafts.map(({ id }) => id)
  const insert = [store.lookUpRows, ...store.insertRunDrafts(visit, drafts)] as const
  const read = store.readRunInvoices(ids)
  if (!issue) {
    const [, , , , created] = await access.as(visit, [...insert, read])
    return created
  }
  const [payers] = await access.as(visit, [store.readPayerTexts(drafts.map(({ accountId }) => accountId))])
  const texts = new Map(payers.map((payer) => [payer.id, payer.texts]))
  const written = drafts.map(({ id, accountId, lines }) => {
    return { id, texts: [...(texts.get(accountId) ?? []), ...lines.map(({ text }) => text)] }
  })
  const printable = await printableIn(unprintable, written)
  const [, , , , , issued] = await access.as(visit, [
    ...insert,
    store.issueRunDrafts(visit, printable, termsOf(settings)),
    read,
  ])
  return issued
}

const termsOf = (settings: InvoiceSettings) => ({ ...issueTerms(settings, 'invoice'), currency: settings.currency })

/** Whether another run billed one of the accounts since the statement began, or at the same time in another order. */
function isBilledMeanwhile(error: unknown): boolean {
  const isBilled = violates(error, 'billed_month_pkey')
  return isBilled || codeOf(error) === '40P01'
}

const firstDayOf = (month: string) => `${month}-01`

function* batches<T>(items: readonly T[], size: number): Iterable<readonly T[]> {
  for (let first = 0; first < items.length; first += size) yield items.slice(first, first + size)
}
