import type { Command } from 'commander'
import { formatMoney } from '../billing/money.ts'
import type { ModelUsage, UsageTotal } from '../billing/usage.ts'
import { argument, command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { amountsIn, writeJson, writeTable } from './output.ts'
import { parseDay } from './times.ts'

interface UsageOptions extends CommonOptions {
  readonly account: string
  readonly from?: string
  readonly to?: string
}

export function usageCommand(context: Context): Command {
  const day = argument(parseDay)
  const shown = command('usage', 'What an account used', 'usage --account Acme --from 2030-01-01 --to 2030-01-31')
    .requiredOption('--account <account>', 'its id or name')
    .option('--from <day>', 'the first day, in UTC', day)
    .option('--to <day>', 'the last day, in UTC', day)
    .action(async ({ json, account, from, to }: UsageOptions) => {
      if (from && to && from > to) shown.error('error: --from must not be after --to')
      const database = await context.database()
      const { createAccounts } = await import('../accounts/accounts.ts')
      const { createUsage } = await import('../billing/usage.ts')
      const { id } = await createAccounts({ database }).find(account)
      const usage = createUsage({ database })
      const span = { accountId: id, from, to }
      if (json) return writeJson(context, toJson(await usage.total(span)))
      const models = await usage.byModel(span)
      return writeUsage(context, models, await usage.total(span))
    })
  return shown
}

async function writeUsage(context: Context, models: readonly ModelUsage[], total: UsageTotal): Promise<void> {
  const { currency } = await context.config()
  const inCurrency = amountsIn(currency)
  writeTable(
    context,
    models.length > 1 ? [...models, { model: 'together', ...total }] : models,
    [
      { title: 'MODEL', text: ({ model }) => model },
      { title: 'REQUESTS', text: ({ requests }) => String(requests), right: true },
      { title: 'INPUT TOKENS', text: ({ inputTokens }) => String(inputTokens), right: true },
      { title: 'OUTPUT TOKENS', text: ({ outputTokens }) => String(outputTokens), right: true },
      { title: `COST (${currency})`, text: ({ cost }) => inCurrency(formatMoney(cost)), right: true },
    ],
    'Nothing was used in this time. Usage is here as soon as a call has been answered.',
  )
}

function toJson({ requests, inputTokens, outputTokens, cost }: UsageTotal): object {
  return { requests, input_tokens: inputTokens, output_tokens: outputTokens, cost: formatMoney(cost) }
}
