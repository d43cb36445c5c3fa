import { join } from 'node:path'
import { verifyInvoices } from '../src/invoicing/verify.ts'
import { addHistory } from './invoices-history.ts'
import { months, seedInvoices } from './invoices-seed.ts'
import { timePages, type TimedPage } from './page-times.ts'
import { openPortalStage, type PortalStage } from './portal-stage.ts'
import type { Row } from './row.ts'
import { runCommand } from './tollgate.ts'

/** 10 000 accounts at the full size, with a thousand ledger rows each. Fewer rows are for trying the benchmark. */
const ledgerRows = Number(process.env['LEDGER_ROWS'] ?? 10_000_000)
const accounts = Math.ceil(ledgerRows / 1000)

const settings = `currency: EUR
firm: { name: Berg & Partner, address: [Hauptstraße 1, 10115 Berlin], email: office@berg.example }
invoicing:
  tax_number: DE123456789
  bank: { iban: DE02120300000000202051, bic: BYLADEM1001 }
  tax: [{ id: standard, category: S, rate: "19" }]
`

/** The pages of invoices. LATER stands for a cursor in the middle of the list, MANY for the invoice with most lines, ISSUED for one to an account. */
const pages: readonly TimedPage[] = [
  { name: 'invoices', path: '/invoices', atMost: 100 },
  { name: 'invoices, overdue', path: '/invoices?status=overdue', atMost: 100 },
  { name: 'invoices, void (one of 24)', path: '/invoices?status=void', atMost: 100 },
  { name: 'invoices, a later page', path: '/invoices?cursor=LATER', atMost: 100 },
  { name: 'invoices of an account', path: '/invoices?account=ACCOUNT', atMost: 100 },
  { name: 'invoices, by a part of a number', path: '/invoices?number=0017', atMost: 100 },
  { name: 'invoices, ageing and turnover', path: '/invoices/report', atMost: 100 },
  { name: 'a new invoice to an account', path: '/invoices/new?account=ACCOUNT', atMost: 100 },
  { name: 'an invoice of 200 lines', path: '/invoices/MANY', atMost: 100 },
  { name: 'an invoice as PDF', path: '/invoices/ISSUED/pdf', atMost: 300 },
]

/**
 * The time until the data of the pages of invoices has arrived, and how long the run of a month takes. Throws if a page reads
 * the ledger, if the run does not draft one invoice for each account, or if the invoices and the ledger do not agree.
 */
export async function benchInvoices(): Promise<Row[]> {
  console.log(`  creating ${ledgerRows} ledger rows of ${accounts} accounts …`)
  const stage = await openPortalStage(join(import.meta.dirname, 'data/invoices'), {
    accounts: 0,
    settings,
    seed: (database) => seedInvoices(database, { ledgerRows, accounts }),
  })
  try {
    const [first, ...others] = months
    const runs = [await timeRun(stage, first)]
    console.log('  issuing invoices …')
    await addHistory(stage)
    const shown = await withIds(stage)
    await refuseLedger(stage, shown)
    const rows = await timePages(stage, shown)
    for (const month of others) runs.push(await timeRun(stage, month))
    await prove(stage)
    return [...rows, { name: `invoice run, ${accounts} accounts`, unit: 's', samples: runs, goal: { atMost: 60 } }]
  } finally {
    await stage.close()
  }
}

/** The pages with the ids that their paths stand for. */
async function withIds({ database }: PortalStage): Promise<TimedPage[]> {
  const [ids] = await database.rows<Record<'later' | 'account' | 'many' | 'issued', string>>(
    `select (select id from invoice order by id desc offset (select count(*) / 2 from invoice) limit 1) as later,
       (select account_id from invoice where account_id is not null order by id limit 1) as account,
       (select invoice_id from invoice_line group by invoice_id order by count(*) desc limit 1) as many,
       (select id from invoice where state = 'issued' and kind = 'invoice' and month is not null order by id desc limit 1) as issued`,
  )
  if (!ids) throw new Error('There are no invoices.')
  const written = (path: string) =>
    path
      .replace('LATER', ids.later)
      .replace('ACCOUNT', ids.account)
      .replace('MANY', ids.many)
      .replace('ISSUED', ids.issued)
  return pages.map((page) => ({ ...page, path: written(page.path) }))
}

/** Throws if a page reads the ledger: it is locked, so that a statement that names it would not end in time. */
async function refuseLedger({ database, get }: PortalStage, shown: readonly TimedPage[]): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.rows('lock table ledger in access exclusive mode')
    for (const { path } of shown) await get(path)
  })
}

/** How long the command takes to bill a month, in s. */
async function timeRun({ database, installation }: PortalStage, month: string): Promise<number> {
  const started = performance.now()
  await runCommand(installation.environment, ['invoice', 'run', '--month', month])
  const seconds = (performance.now() - started) / 1000
  console.log(`  the run of ${month}: ${seconds.toFixed(1)} s`)
  const wrong = await database.rows(
    `select a.id from account a left join invoice i on i.account_id = a.id and i.month = $1 and i.state = 'draft'
     group by a.id having count(i.id) <> 1`,
    [`${month}-01`],
  )
  if (wrong.length > 0) throw new Error(`After the run of ${month}, ${wrong.length} accounts do not have one draft.`)
  return seconds
}

async function prove({ database }: PortalStage): Promise<void> {
  const wrong = (await verifyInvoices(database)).filter(({ ok }) => !ok)
  if (wrong.length > 0) throw new Error(`The invoices are wrong: ${JSON.stringify(wrong)}`)
}
