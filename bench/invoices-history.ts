import { personActor, type Visit } from '../src/access/actor.ts'
import { withAccess } from '../src/commands/operator.ts'
import { createInvoices } from '../src/invoicing/invoices.ts'
import { invoiceSettings } from '../src/invoicing/settings.ts'
import { partner, type PortalStage } from './portal-stage.ts'

type Stage = Pick<PortalStage, 'context' | 'database'>

const visit: Visit = { actor: personActor({ id: partner, role: 'partner' }) }
/** How many clients get an invoice. */
const clientInvoices = 500
/** Issued in one transaction. In a longer one, the row of the series has too many versions. */
const perTransaction = 500

/**
 * Makes of drafts a history of invoices: a few remain drafts or become void, and of twenty issued ones one is credited, ten
 * are paid, three are partly paid, and the others are overdue or open.
 */
export async function addHistory(stage: Stage): Promise<void> {
  await draftForClients(stage)
  await issueDrafts(stage, 'invoice', 'INV-2026-{number}')
  await as(
    stage,
    `select void_invoice(id, version, null, null) from invoice where state = 'draft' and ${hashOf('id')} % 24 = 0`,
  )
  await draftCreditNotes(stage)
  await issueDrafts(stage, 'credit_note', 'CN-2026-{number}')
  await as(
    stage,
    `select pay_invoice(id, uuidv7(), least(issued_on + 10, current_date), case when place < 11 then gross else gross - 1e10 end,
       'transfer', number, null, null, null)
     from (select *, series_number % 20 as place from invoice) i
     where state = 'issued' and kind = 'invoice' and place between 1 and 13`,
  )
  await stage.database.rows('vacuum analyze invoice, invoice_line, invoice_payment, billed_month')
}

async function draftForClients({ context, database }: Stage): Promise<void> {
  const clients = await database.rows<{ id: string }>(`select id from client order by id limit ${clientInvoices}`)
  const line = { text: 'Annual accounts', quantity: '7.5', unit: 'hour', unit_price: '180' } as const
  const lines = [
    line,
    { ...line, text: 'Tax return' },
    { text: 'Postage', quantity: '1', unit: 'piece', unit_price: '9.95' } as const,
  ]
  await withInvoices(context, async (invoices) => {
    for (const { id } of clients) await invoices.create(visit, { client: id, lines })
  })
}

/** For one of twenty issued invoices. */
async function draftCreditNotes({ context, database }: Stage): Promise<void> {
  const issued = await database.rows<{ id: string }>(
    `select id from invoice where state = 'issued' and series_number % 20 = 0`,
  )
  await withInvoices(context, async (invoices) => {
    for (const { id } of issued) await invoices.credit(visit, id, {})
  })
}

function withInvoices(context: Stage['context'], work: (invoices: ReturnType<typeof createInvoices>) => Promise<void>) {
  return withAccess(context, async ({ access, database }) => {
    const settings = invoiceSettings(await context.config())
    await work(createInvoices({ access, database, settings, unprintable: async () => [] }))
  })
}

/** Issues all drafts of a kind but one of twelve, over the past 120 days. */
async function issueDrafts(stage: Stage, kind: string, series: string): Promise<void> {
  const { seller } = invoiceSettings(await stage.context.config())
  for (;;) {
    const issued = await as(
      stage,
      `select issue_invoice(id, version, $1, 5, day, day + 30, $2, null, null)
       from (select id, version, current_date - (abs(${hashOf('id')}) % 120)::integer as day from invoice
         where state = 'draft' and kind = $3 and ${hashOf('id')} % 12 <> 0 order by id limit ${perTransaction}) draft`,
      [series, JSON.stringify(seller), kind],
    )
    if (issued.length === 0) return
  }
}

const hashOf = (id: string) => `hashtextextended(${id}::text, 0)`

/** Runs a statement as the partner, whom the audit log names. */
function as({ database }: Stage, statement: string, values: readonly unknown[] = []): Promise<object[]> {
  return database.transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.person', '${partner}', true)`)
    return tx.rows<object>(statement, values)
  })
}
