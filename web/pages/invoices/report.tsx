import { Button } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useLoaderData } from 'react-router'
import type { InvoiceReport } from '../../../src/invoicing/schema.ts'
import { Empty } from '../../components/empty.tsx'
import { Page } from '../../components/page.tsx'
import tables from '../../components/table.module.css'
import { dateText, monthText } from '../../locale.ts'
import { moneyText } from '../../money.ts'
import { Chart } from '../usage/chart.tsx'
import { sumOfFigures } from '../usage/series.ts'
import { isZero } from '../invoice/zero.ts'
import classes from './report.module.css'

/** Receivables by payer and age, and revenue by month; for partners. */
export function InvoiceReportPage() {
  const report = useLoaderData<InvoiceReport>()
  const { ageing, turnover, other_currencies: others } = report
  const isEmpty = ageing.payer_count === 0 && turnover.every(({ invoiced }) => isZero(invoiced))
  return (
    <Page title="Receivables and revenue" heading={<Heading />}>
      {others.length > 0 && <p className={classes.none}>Invoices in {others.join(', ')} are left out.</p>}
      {isEmpty ? (
        <Empty title="Nothing is owed, and nothing was invoiced">
          <p>Figures appear here as soon as an invoice is issued.</p>
        </Empty>
      ) : (
        <>
          <Ageing report={report} />
          <Turnover report={report} />
        </>
      )}
    </Page>
  )
}

function Heading() {
  return (
    <div>
      <Link className={classes.back} to="/invoices">
        Invoices
      </Link>
      <h1>Receivables and revenue</h1>
    </div>
  )
}

const spans = {
  not_due: 'Not due',
  to_30: '1–30 days',
  to_60: '31–60 days',
  to_90: '61–90 days',
  over_90: 'Over 90 days',
} as const
const spanNames = ['not_due', 'to_30', 'to_60', 'to_90', 'over_90'] as const

interface SectionProps {
  readonly report: InvoiceReport
}

function Ageing({ report: { ageing, currency, today } }: SectionProps) {
  const { total, payers, payer_count: count } = ageing
  return (
    <section className={classes.section} aria-labelledby="ageing">
      <header className={classes.bar}>
        <h2 id="ageing">Open as of {dateText(today)}</h2>
        <Export of="ageing" />
      </header>
      <Bars total={total} currency={currency} />
      {count === 0 ? (
        <p className={classes.none}>Nothing is open.</p>
      ) : (
        <div className={tables.frame}>
          <table className={`${tables.table} ${classes.table}`} aria-labelledby="ageing">
            <thead>
              <tr>
                <th scope="col">Payer</th>
                {spanNames.map((name) => (
                  <th key={name} scope="col" className={tables.wide}>
                    {spans[name]}
                  </th>
                ))}
                <th scope="col">Open</th>
              </tr>
            </thead>
            <tbody>
              {payers.map((row) => (
                <tr key={row.payer.id}>
                  <th scope="row">
                    <Link to={`/invoices?${row.payer.kind}=${row.payer.id}`}>{row.payer.name}</Link>
                    {!isZero(row.to_return) && <small>{moneyText(row.to_return, currency)} to return</small>}
                  </th>
                  {spanNames.map((name) => (
                    <td key={name} className={tables.wide}>
                      {isZero(row[name]) ? '–' : moneyText(row[name], currency)}
                    </td>
                  ))}
                  <td className={tables.strong}>{moneyText(row.total, currency)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {count > payers.length && <p className={classes.none}>The file has all {count} payers.</p>}
    </section>
  )
}

/** The sums of all payers, as bars. */
function Bars({ total, currency }: { readonly total: InvoiceReport['ageing']['total']; readonly currency: string }) {
  const highest = Math.max(...spanNames.map((name) => Number(total[name])), 0)
  return (
    <dl className={classes.bars}>
      {spanNames.map((name) => (
        <div key={name} data-span={name}>
          <dt>{spans[name]}</dt>
          <dd>
            <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden>
              <rect width={highest === 0 ? 0 : (Number(total[name]) / highest) * 100} height={1} />
            </svg>
            {moneyText(total[name], currency)}
          </dd>
        </div>
      ))}
      <div className={classes.sum}>
        <dt>Open</dt>
        <dd>{moneyText(total.total, currency)}</dd>
      </div>
    </dl>
  )
}

function Turnover({ report: { turnover, currency } }: SectionProps) {
  const [isTable, setTable] = useState(false)
  const columns = turnover.map(({ month, net }) => ({
    when: month,
    total: { ...sumOfFigures([]), cost: net },
    parts: new Map(),
  }))
  return (
    <section className={classes.section} aria-labelledby="turnover">
      <header className={classes.bar}>
        <h2 id="turnover">Revenue without tax</h2>
        <Button variant="default" aria-pressed={isTable} onClick={() => setTable(!isTable)}>
          Table
        </Button>
        <Export of="turnover" />
      </header>
      {isTable ? (
        <TurnoverTable turnover={turnover} currency={currency} />
      ) : (
        <Chart columns={columns} measure="cost" models={undefined} currency={currency} label="Revenue by month" />
      )}
    </section>
  )
}

function TurnoverTable({ turnover, currency }: Pick<InvoiceReport, 'turnover' | 'currency'>) {
  return (
    <div className={tables.frame}>
      <table className={`${tables.table} ${classes.table}`} aria-labelledby="turnover">
        <thead>
          <tr>
            <th scope="col">Month</th>
            <th scope="col">Invoices</th>
            <th scope="col">Credit notes</th>
            <th scope="col">Revenue</th>
          </tr>
        </thead>
        <tbody>
          {turnover.toReversed().map(({ month, invoiced, credited, net }) => (
            <tr key={month}>
              <th scope="row">{monthText(month)}</th>
              <td>{moneyText(invoiced, currency)}</td>
              <td>{moneyText(credited, currency)}</td>
              <td className={tables.strong}>{moneyText(net, currency)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Export({ of }: { readonly of: 'ageing' | 'turnover' }) {
  return (
    <Button
      component="a"
      variant="default"
      leftSection={<IconDownload size={15} aria-hidden />}
      href={`/invoices/report.csv?of=${of}`}
      download={`${of}.csv`}
      aria-label={`Export CSV: ${of}`}
    >
      Export CSV
    </Button>
  )
}
