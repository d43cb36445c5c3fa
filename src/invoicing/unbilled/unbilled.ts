import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { dayIn, today } from '../../platform/text/calendar.ts'
import { spreadsheetCsv } from '../../platform/text/csv.ts'
import { Problem } from '../../platform/problems.ts'
import { minorUnit } from '../arithmetic.ts'
import { csvFile } from '../reports/csv.ts'
import { moneyWith } from '../present.ts'
import type { InvoiceSettings } from '../settings.ts'
import { closeMonths, readUnbilledPayers, type UnbilledOrder, type UnbilledRow } from './store.ts'
import type { UnbilledList, UnbilledQuery } from './schema.ts'

/** UnbilledItems work, for partners: time, expenses, and the months that are over of accounts and of letters. */
export interface UnbilledItems {
  /** One page of payers. Throws Problem `invalid_field`. */
  list(visit: Visit, query: UnbilledQuery): Promise<UnbilledList>
  /** All payers, as a CSV file. */
  export(visit: Visit, query: Pick<UnbilledQuery, 'until' | 'sort'>): Promise<string>
}

interface UnbilledNeeds {
  readonly access: RecordAccess
  readonly settings: InvoiceSettings
}

const pageSize = 50

export function createUnbilled({ access, settings }: UnbilledNeeds): UnbilledItems {
  const { markup, currency, decimals, timeZone } = settings
  const money = moneyWith(decimals)
  const unit = minorUnit(decimals)

  async function read(visit: Visit, query: UnbilledQuery, [skip, most]: readonly [number, number | null]) {
    const until = query.until === undefined ? today(timeZone) : dayIn(query.until, 'until')
    const filter = { until, markup, unit, sort: query.sort ?? ('oldest' satisfies UnbilledOrder), skip, most }
    const [, rows] = await access.as(visit, [closeMonths, readUnbilledPayers(filter)])
    return { until, rows }
  }

  return Object.freeze<UnbilledItems>({
    async list(visit, query) {
      const skip = query.cursor === undefined ? 0 : placeIn(query.cursor)
      const { until, rows } = await read(visit, query, [skip, pageSize + 1])
      const shown = rows.slice(0, pageSize)
      await access.note(visit, { action: 'unbilled_listed', noun: 'invoice', details: { rows: String(shown.length) } })
      const [first] = rows
      return {
        until,
        currency,
        payers: first?.all_payers ?? 0,
        items: first?.all_items ?? 0,
        amount: money(first?.all_amount ?? 0n),
        unbilled: shown.map((row) => present(row, money)),
        next: rows.length > pageSize ? String(skip + pageSize) : null,
      }
    },

    async export(visit, query) {
      const { rows, until } = await read(visit, query, [0, null])
      await access.note(visit, { action: 'unbilled_exported', noun: 'invoice', details: { until } })
      const head = ['payer', 'client_id', 'account_id', 'items', 'oldest', 'amount', 'currency']
      const lines = rows.map((row) => [
        row.name,
        row.client_id,
        row.account_id,
        row.items,
        row.oldest,
        { decimal: money(row.amount) },
        currency,
      ])
      return csvFile([head, ...lines], spreadsheetCsv(settings.locale))
    },
  })
}

function present(row: UnbilledRow, money: (amount: bigint) => string): UnbilledList['unbilled'][number] {
  const { client_id: client, account_id: account, name, archived, deleted, items, amount, oldest } = row
  return {
    payer: { kind: client === null ? 'account' : 'client', id: client ?? account ?? '', name, archived, deleted },
    items,
    amount: money(amount),
    oldest,
    month: client === null ? oldest.slice(0, 7) : null,
  }
}

function placeIn(cursor: string): number {
  if (/^[1-9]\d{0,8}$/.test(cursor)) return Number(cursor)
  throw new Problem('invalid_field', 'The field cursor must be `next` of the previous page.', { field: 'cursor' })
}
