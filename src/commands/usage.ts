import { Option, type Command } from 'commander'
import { formatMoney } from '../billing/prices/money.ts'
import type { AccountUsage, ModelUsage, UsageSpan, UsageTotal } from '../billing/reports/usage.ts'
import type { Database } from '../platform/database/database.ts'
import { quotedIfHidden } from '../platform/text/one-line.ts'
import { argument, command, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { formatFor } from './output/format.ts'
import { warn, writeJson, writeTable } from './output/output.ts'
import { parseDay } from './output/times.ts'
import { recordView } from './operator.ts'

interface UsageOptions extends CommonOptions {
  readonly account?: string
  readonly from?: string
  readonly to?: string
  readonly by?: 'tag'
  readonly tag?: string
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
    .addOption(new Option('--by <what>', 'group by the tags of requests').choices(['tag']))
    .option('--tag <name>', 'with --by tag: only tags with this name')
    .option('--from <day>', 'the first day, in UTC', day)
    .option('--to <day>', 'the last day, in UTC', day)
    .action(async ({ json, account, from, to, by, tag }: UsageOptions) => {
      if (tag !== undefined && by === undefined) shown.error('error: --tag needs --by tag')
      if (from && to && from > to) shown.error('error: --from must not be after --to')
      const { recordedQuery } = await import('../access/audit/recorded-query.ts')
      await recordView(context, {
        action: 'usage_read',
        noun: 'usage',
        details: recordedQuery({ account, by, tag, from, to }),
      })
      const database = await context.database()
      const period = { from, to }
      if (by === 'tag') return writeTags(context, { account, name: tag, ...period }, json)
      const firm = account === undefined
      const rows = firm ? await accountLines(database, period) : await modelLines(database, account, period)
      const { sumOf } = await import('../billing/reports/usage.ts')
      const total = sumOf(rows)
      if (!json) return writeUsage(context, firm ? 'ACCOUNT' : 'MODEL', rows, total)
      return writeJson(context, { ...toJson(total), ...(firm && { accounts: rows.map(accountToJson) }) })
    })
  return shown
}

interface TagOptions extends UsageSpan {
  readonly account: string | undefined
  readonly name: string | undefined
}

/** A request with several tags is in the line of each, so there is no total. */
async function writeTags(context: Context, { account, name, ...period }: TagOptions, json: true | undefined) {
  const database = await context.database()
  const { createAccounts } = await import('../accounts/accounts.ts')
  const { createUsage } = await import('../billing/reports/usage.ts')
  const accountId = account === undefined ? undefined : (await createAccounts({ database }).find(account)).id
  const rows = await createUsage({ database }).byTag({ accountId, name, ...period, most: mostTags + 1 })
  if (rows.length > mostTags)
    warn(context, `There are more tags: these are the ${mostTags} that cost most. Choose fewer days.`)
  const shown = rows.slice(0, mostTags)
  if (json) return writeJson(context, { tags: shown.map(({ tag, ...usage }) => ({ tag, ...toJson(usage) })) })
  const lines = shown.map((usage) => ({ ...usage, name: nameOf(usage.tag, name) }))
  return writeLinesOf(context, 'TAG', lines)
}

const mostTags = 10_000

function nameOf(tag: { readonly name: string; readonly value: string } | null, asked: string | undefined): string {
  if (tag === null) return asked === undefined ? '(no tag)' : `(no tag ${asked})`
  // Callers write tags: no control character of theirs may reach the terminal.
  const [label, value] = [tag.name, tag.value].map(quotedIfHidden)
  return asked === undefined ? `${label}=${value}` : String(value)
}

async function modelLines(database: Database, account: string, period: UsageSpan): Promise<(ModelUsage & UsageLine)[]> {
  const { createAccounts } = await import('../accounts/accounts.ts')
  const { createUsage } = await import('../billing/reports/usage.ts')
  const { id } = await createAccounts({ database }).find(account)
  const models = await createUsage({ database }).byModel({ accountId: id, ...period })
  return models.map((usage) => ({ ...usage, name: usage.model }))
}

async function accountLines(database: Database, period: UsageSpan): Promise<(AccountUsage & UsageLine)[]> {
  const { createAccounts } = await import('../accounts/accounts.ts')
  const { createUsage } = await import('../billing/reports/usage.ts')
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
  return writeLinesOf(context, title, rows.length > 1 ? [...rows, { name: 'Total', ...total }] : rows)
}

async function writeLinesOf(context: Context, title: string, lines: readonly UsageLine[]): Promise<void> {
  const format = await formatFor(context)
  writeTable(
    context,
    lines,
    [
      { title, text: ({ name }) => name },
      format.numberColumn('REQUESTS', ({ requests }) => requests),
      format.numberColumn('INPUT TOKENS', ({ inputTokens }) => inputTokens),
      // Cached tokens are part of the input. Many vendors report none.
      ...(lines.some(({ cachedTokens }) => cachedTokens > 0)
        ? [format.numberColumn<UsageLine>('CACHED', ({ cachedTokens }) => cachedTokens)]
        : []),
      ...(lines.some(({ cacheWriteTokens }) => cacheWriteTokens > 0)
        ? [format.numberColumn<UsageLine>('CACHE WRITES', ({ cacheWriteTokens }) => cacheWriteTokens)]
        : []),
      format.numberColumn('OUTPUT TOKENS', ({ outputTokens }) => outputTokens),
      format.amountColumn('COST', lines, ({ cost }) => formatMoney(cost)),
    ],
    noUsage,
  )
}

function toJson(usage: UsageTotal): object {
  return {
    requests: usage.requests,
    input_tokens: usage.inputTokens,
    cached_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    cost: formatMoney(usage.cost),
  }
}

function accountToJson(usage: UsageLine & { accountId?: string }): object {
  return { account_id: usage.accountId, name: usage.name, ...toJson(usage) }
}
