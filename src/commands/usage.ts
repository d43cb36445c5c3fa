import type { Command } from 'commander'
import { formatMoney } from '../billing/money.ts'
import type { AccountUsage, ModelUsage, UsageSpan, UsageTotal } from '../billing/usage.ts'
import type { Database } from '../platform/database/database.ts'
import { argument, command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { formatFor } from './format.ts'
import { writeJson, writeTable } from './output.ts'
import { parseDay } from './times.ts'

interface UsageOptions extends CommonOptions {
  readonly account?: string
  readonly from?: string
  readonly to?: string
}

/** A row of the table: a model or an account, or the total. */
interface UsageLine extends UsageTotal {
  readonly name: string
}

const noUsage = 'No usage in this period. Usage appears as soon as a request has been answered.'

export function usageCommand(context: Context): Command {
  const day = argument(parseDay)
  const shown = command(
    'usage',
    'Show the usage and cost of an account, or of all accounts',
    'usage --account Acme --from 2030-01-01',
  )
    .option('--account <account>', 'only this account: its id or name (default: all accounts)')
    .option('--from <day>', 'the first day, in UTC', day)
    .option('--to <day>', 'the last day, in UTC', day)
    .action(async ({ json, account, from, to }: UsageOptions) => {
      if (from && to && from > to) shown.error('error: --from must not be after --to')
      const database = await context.database()
      const period = { from, to }
      const firm = account === undefined
      const rows = firm ? await accountLines(database, period) : await modelLines(database, account, period)
      const { sumOf } = await import('../billing/usage.ts')
      const total = sumOf(rows)
      if (!json) return writeUsage(context, firm ? 'ACCOUNT' : 'MODEL', rows, total)
      return writeJson(context, { ...toJson(total), ...(firm && { accounts: rows.map(accountToJson) }) })
    })
  return shown
}

async function modelLines(database: Database, account: string, period: UsageSpan): Promise<(ModelUsage & UsageLine)[]> {
  const { createAccounts } = await import('../accounts/accounts.ts')
  const { createUsage } = await import('../billing/usage.ts')
  const { id } = await createAccounts({ database }).find(account)
  const models = await createUsage({ database }).byModel({ accountId: id, ...period })
  return models.map((usage) => ({ ...usage, name: usage.model }))
}

async function accountLines(database: Database, period: UsageSpan): Promise<(AccountUsage & UsageLine)[]> {
  const { createAccounts } = await import('../accounts/accounts.ts')
  const { createUsage } = await import('../billing/usage.ts')
  const accounts = await createAccounts({ database }).list()
  const names = new Map(accounts.map(({ id, name }) => [id, name]))
  const usages = await createUsage({ database }).byAccount(period)
  return usages.map((usage) => ({ ...usage, name: names.get(usage.accountId) ?? usage.accountId }))
}

async function writeUsage(
  context: Context,
  title: string,
  rows: readonly UsageLine[],
  total: UsageTotal,
): Promise<void> {
  const format = await formatFor(context)
  const lines = rows.length > 1 ? [...rows, { name: 'Total', ...total }] : rows
  writeTable(
    context,
    lines,
    [
      { title, text: ({ name }) => name },
      format.numberColumn('REQUESTS', ({ requests }) => requests),
      format.numberColumn('INPUT TOKENS', ({ inputTokens }) => inputTokens),
      format.numberColumn('OUTPUT TOKENS', ({ outputTokens }) => outputTokens),
      format.amountColumn('COST', lines, ({ cost }) => formatMoney(cost)),
    ],
    noUsage,
  )
}

function toJson({ requests, inputTokens, outputTokens, cost }: UsageTotal): object {
  return { requests, input_tokens: inputTokens, output_tokens: outputTokens, cost: formatMoney(cost) }
}

function accountToJson(usage: UsageLine & { accountId?: string }): object {
  return { account_id: usage.accountId, name: usage.name, ...toJson(usage) }
}
