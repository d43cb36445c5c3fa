import type { Command } from 'commander'
import type { RunInvoice } from '../invoicing/monthly-run.ts'
import { argument, command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { formatFor } from './format.ts'
import { operator } from './operator.ts'
import { writeJson, writeLines, writeTable } from './output.ts'
import { withAccess } from './record-access.ts'

interface RunOptions extends CommonOptions {
  readonly month: string
  readonly dryRun?: true
  readonly issue?: true
}

/** `invoice run`. */
export function invoiceRunCommand(context: Context): Command {
  return command(
    'run',
    'Draft an invoice for every account with unbilled usage in a month',
    'invoice run --month 2030-01',
  )
    .requiredOption('--month <month>', 'a past month, in UTC', argument(parseMonth))
    .option('--dry-run', 'only list what would be billed')
    .option('--issue', 'issue the drafts of this run and of earlier runs of the month')
    .action(async ({ dryRun, ...options }: RunOptions) =>
      dryRun ? listUnbilled(context, options) : run(context, options),
    )
}

async function run(context: Context, { json, month, issue: issues }: RunOptions): Promise<void> {
  const { billMonth } = await import('../invoicing/monthly-run.ts')
  const { invoiceSettings } = await import('../invoicing/settings.ts')
  const { formatMoney } = await import('../billing/money.ts')
  const settings = invoiceSettings(await context.config())
  const issue = issues === true
  const { amount, count, number } = await formatFor(context)
  const billed: RunInvoice[] = []
  await withAccess(context, async ({ access, database }) => {
    for await (const { invoices, done, of } of billMonth(operator(), { access, database, settings, month, issue })) {
      billed.push(...invoices)
      if (json) continue
      const lines = invoices.map(
        (each) => `${each.name}: ${amount(formatMoney(each.gross))} ${each.currency}, ${each.number ?? each.id}`,
      )
      writeLines(context, ...lines, `${number(done)} of ${number(of)}`)
    }
  })
  if (json) return writeJson(context, { invoices: billed.map((each) => ({ ...each, gross: formatMoney(each.gross) })) })
  writeLines(context, `${issue ? 'Issued' : 'Drafted'} ${count(billed.length, 'invoice')}.`)
}

async function listUnbilled(context: Context, { json, month }: RunOptions): Promise<void> {
  const { unbilledAccounts } = await import('../invoicing/monthly-run.ts')
  const { formatMoney } = await import('../billing/money.ts')
  const accounts = await unbilledAccounts({ database: await context.database(), month })
  const rows = accounts.map(({ id, name, cost }) => ({ id, name, cost: formatMoney(cost) }))
  if (json) return writeJson(context, { accounts: rows })
  const format = await formatFor(context)
  return writeTable(
    context,
    rows,
    [
      { title: 'ACCOUNT', text: ({ name }) => name },
      format.amountColumn('COST', rows, ({ cost }) => cost),
      { title: 'ID', text: ({ id }) => id },
    ],
    'Nothing to bill: no account has unbilled usage in this month.',
  )
}

/** Checks a month such as 2030-01. Throws a RangeError. */
function parseMonth(text: string): string {
  if (/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text)) return text
  throw new RangeError('must be a month such as 2030-01')
}
