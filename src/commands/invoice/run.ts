import type { Command } from 'commander'
import type { LeftDraft, RefusedAccount, RunInvoice } from '../../invoicing/run/monthly-run.ts'
import { argument, command, type CommonOptions } from '../command.ts'
import type { Context } from '../context.ts'
import { formatFor } from '../output/format.ts'
import { readSettings } from './context.ts'
import { operator, withAccess } from '../operator.ts'
import { writeJson, writeLines, writeTable } from '../output/output.ts'
import { OperatorError } from '../../platform/problems.ts'

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
    .option('--dry-run', 'only list what would be billed, and with --issue also the drafts that would be issued')
    .option('--issue', 'issue the drafts of this run and of earlier runs of the month')
    .action(async ({ dryRun, ...options }: RunOptions) =>
      dryRun ? listUnbilled(context, options) : run(context, options),
    )
}

async function run(context: Context, { json, month, issue: issues }: RunOptions): Promise<void> {
  const { billMonth } = await import('../../invoicing/run/monthly-run.ts')
  const { createWritingThread } = await import('../../documents/writing-thread.ts')
  const { formatMoney } = await import('../../billing/prices/money.ts')
  const { settings } = await readSettings(context)
  const issue = issues === true
  const { amount, count, number } = await formatFor(context)
  const billed: RunInvoice[] = []
  const refusals: RefusedAccount[] = []
  const drafts: LeftDraft[] = []
  await using opened = new AsyncDisposableStack()
  const thread = opened.adopt(createWritingThread(), (it) => it.close())
  const unprintable = (texts: readonly string[]) => thread.missingIn({ texts })
  await withAccess(context, async ({ access, database }) => {
    const progress = billMonth(operator(), { access, database, settings, month, issue, unprintable })
    for await (const { invoices, refused, left, done, of } of progress) {
      billed.push(...invoices)
      refusals.push(...refused)
      drafts.push(...left)
      if (json) continue
      const lines = invoices.map(
        (each) => `${each.name}: ${amount(formatMoney(each.gross))} ${each.currency}, ${each.number ?? each.id}`,
      )
      writeLines(context, ...lines, `${number(done)} of ${number(of)}`)
    }
  })
  const ended = issue ? billed.filter((each) => each.number !== null) : billed
  if (json) {
    const invoices = billed.map((each) => ({ ...each, gross: formatMoney(each.gross) }))
    writeJson(context, { invoices, ...(issue && { left: drafts }) })
  } else writeLines(context, `${issue ? 'Issued' : 'Drafted'} ${count(ended.length, 'invoice')}.`)
  const faults = [...notBilled(refusals), ...notIssued(drafts)]
  if (faults.length > 0) throw new OperatorError(faults.join('\n'))
}

function notBilled(accounts: readonly RefusedAccount[]): string[] {
  if (accounts.length === 0) return []
  const lines = accounts.map(({ id, name, error }) => `  ${name} (${id}): ${error.message}`)
  return ['Some accounts could not be billed. The others are not affected.', ...lines]
}

function notIssued(drafts: readonly LeftDraft[]): string[] {
  if (drafts.length === 0) return []
  const lines = drafts.map(({ id, name, reasons }) => `  ${name} (${id}): ${reasons.join(' ')}`)
  return ['Some drafts could not be issued: correct them, and issue them on their pages or by another run.', ...lines]
}

async function listUnbilled(context: Context, { json, month, issue }: RunOptions): Promise<void> {
  const { unbilledAccounts, earlierDrafts } = await import('../../invoicing/run/monthly-run.ts')
  const { formatMoney } = await import('../../billing/prices/money.ts')
  const { settings } = await readSettings(context)
  const found = await withAccess(context, async ({ access, database }) => {
    const unbilled = await unbilledAccounts({ database, month })
    const earlier = issue ? await earlierDrafts(operator(), { access, month, settings }) : []
    const rows = String(unbilled.length + earlier.length)
    await access.note(operator(), { action: 'unbilled_listed', noun: 'invoice', details: { month, rows } })
    return { accounts: unbilled, drafts: earlier }
  })
  const accounts = found.accounts.map(({ id, name, cost }) => ({ id, name, cost: formatMoney(cost) }))
  const drafts = found.drafts.map((draft) => ({ ...draft, gross: formatMoney(draft.gross) }))
  if (json) return writeJson(context, { accounts, ...(issue && { drafts }) })
  const { amountColumn, amount } = await formatFor(context)
  if (accounts.length > 0 || drafts.length === 0) {
    writeTable(
      context,
      accounts,
      [
        { title: 'ACCOUNT', text: ({ name }) => name },
        amountColumn('COST', accounts, ({ cost }) => cost),
        { title: 'ID', text: ({ id }) => id },
      ],
      'Nothing to bill: no account has unbilled usage in this month.',
    )
  }
  if (drafts.length === 0) return
  if (accounts.length > 0) writeLines(context, '')
  writeTable(
    context,
    drafts,
    [
      { title: 'DRAFT OF', text: ({ name }) => name },
      { title: 'AMOUNT', text: ({ gross, currency }) => `${amount(gross)} ${currency}`, right: true },
      { title: 'ID', text: ({ id }) => id },
    ],
    '',
  )
}

/** Checks a month such as 2030-01. Throws a RangeError. */
function parseMonth(text: string): string {
  if (/^2\d{3}-(?:0[1-9]|1[0-2])$/.test(text)) return text
  throw new RangeError('must be a month such as 2030-01')
}
