import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { today } from '../../platform/text/calendar.ts'
import { spreadsheetCsv, type CsvCell } from '../../platform/text/csv.ts'
import { csvFile } from './csv.ts'
import { moneyWith } from '../present.ts'
import {
  readAgeing,
  readOtherCurrencies,
  readTurnover,
  type AgeingRow,
  type OwedRow,
  type TurnoverRow,
} from './store.ts'
import type { InvoiceReport, ReportQuery } from '../schema.ts'
import type { InvoiceSettings } from '../settings.ts'

/** What payers owe and what was invoiced, in the firm's currency. Every read is in the audit log. */
export interface InvoiceReports {
  read(visit: Visit): Promise<InvoiceReport>
  /** One of its tables as a CSV file, with all payers. */
  export(visit: Visit, query: ReportQuery): Promise<string>
}

/** The months of the turnover, this one included. */
const monthsShown = 24
/** The maximum number of payers that a page shows. */
const mostPayers = 200

const spans = ['not_due', 'to_30', 'to_60', 'to_90', 'over_90', 'to_return'] as const

export function createInvoiceReports({
  access,
  settings,
}: {
  readonly access: RecordAccess
  readonly settings: InvoiceSettings
}): InvoiceReports {
  const money = moneyWith(settings.decimals)
  const audited = { action: 'invoice_report_read', noun: 'invoice' }

  async function readBoth(visit: Visit, most: number | null) {
    const day = today(settings.timeZone)
    const months = monthsUntil(day)
    const [[total, ...payers], turnover, others] = await access.as(visit, [
      readAgeing(day, settings.currency, most),
      readTurnover(`${months[0] ?? day.slice(0, 7)}-01`, settings.currency),
      readOtherCurrencies(settings.currency),
    ])
    const otherCurrencies = others.map(({ currency }) => currency)
    return { day, total: total ?? nothing, payers, turnover: withEmpty(months, turnover), otherCurrencies }
  }

  return Object.freeze<InvoiceReports>({
    async read(visit) {
      const { day, total, payers, turnover, otherCurrencies } = await readBoth(visit, mostPayers)
      await access.note(visit, audited)
      return {
        currency: settings.currency,
        other_currencies: otherCurrencies,
        today: day,
        ageing: {
          total: presentSpans(total, money),
          payers: payers.flatMap((row) => {
            const payer = payerOf(row)
            return payer ? [{ payer, ...presentSpans(row, money) }] : []
          }),
          payer_count: Number(total.payers),
        },
        turnover: turnover.map((row) => presentMonth(row, money)),
      }
    },
    async export(visit, { of }) {
      const { payers, turnover } = await readBoth(visit, null)
      await access.note(visit, { ...audited, details: { exported: of } })
      const lines =
        of === 'ageing'
          ? ageingLines(payers, settings.currency, money)
          : turnoverLines(turnover, settings.currency, money)
      return csvFile(lines, spreadsheetCsv(settings.locale))
    },
  })
}

type Money = (amount: bigint) => string

function presentSpans(owed: OwedRow, money: Money) {
  const total = owed.not_due + owed.to_30 + owed.to_60 + owed.to_90 + owed.over_90
  return {
    not_due: money(owed.not_due),
    to_30: money(owed.to_30),
    to_60: money(owed.to_60),
    to_90: money(owed.to_90),
    over_90: money(owed.over_90),
    total: money(total),
    to_return: money(owed.to_return),
  }
}

const nothing = { not_due: 0n, to_30: 0n, to_60: 0n, to_90: 0n, over_90: 0n, to_return: 0n, payers: 0n }

const payerOf = ({ kind, id, name }: AgeingRow) =>
  kind === null || id === null || name === null ? undefined : { kind, id, name }

function presentMonth({ month, invoiced, credited }: TurnoverRow, money: Money) {
  return { month, invoiced: money(invoiced), credited: money(credited), net: money(invoiced - credited) }
}

/** The months up to that of a day, oldest first. */
function monthsUntil(day: string): string[] {
  const last = Temporal.PlainDate.from(day).toPlainYearMonth()
  return Array.from({ length: monthsShown }, (_, index) =>
    last.subtract({ months: monthsShown - 1 - index }).toString(),
  )
}

function withEmpty(months: readonly string[], rows: readonly TurnoverRow[]): TurnoverRow[] {
  const known = new Map(rows.map((row) => [row.month, row]))
  return months.map((month) => known.get(month) ?? { month, invoiced: 0n, credited: 0n })
}

function ageingLines(rows: readonly AgeingRow[], currency: string, money: Money): CsvCell[][] {
  const titles = ['payer', 'payer_kind', 'payer_id', 'currency', ...spans]
  return [
    titles,
    ...rows.map((row) => [
      row.name,
      row.kind,
      row.id,
      currency,
      ...spans.map((name) => ({ decimal: money(row[name]) })),
    ]),
  ]
}

function turnoverLines(rows: readonly TurnoverRow[], currency: string, money: Money): CsvCell[][] {
  return [
    ['month', 'currency', 'invoiced', 'credited', 'net'],
    ...rows.map((row) => {
      const { month, ...amounts } = presentMonth(row, money)
      return [month, currency, ...Object.values(amounts).map((decimal) => ({ decimal }))]
    }),
  ]
}
