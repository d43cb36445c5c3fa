import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Ledger, LedgerPage, LedgerRow } from '../billing/reports/ledger.ts'
import { formatMoney, formatPrice } from '../billing/prices/money.ts'
import { promptTokensOf } from '../billing/till/till.ts'
import type { Database } from '../platform/database/database.ts'
import { isUuid } from '../platform/database/uuid.ts'
import { argument, command, parseCount, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { formatFor } from './output/format.ts'
import { writeLines, writeTable } from './output/output.ts'
import { beginningIn, endIn, parseMoment, type InstantOrDay } from './output/times.ts'
import { recordView } from './operator.ts'

interface LedgerOptions extends CommonOptions {
  readonly account?: string
  readonly key?: string
  readonly request?: string
  readonly limit?: number
  readonly from?: InstantOrDay
  readonly to?: InstantOrDay
}

type Selection = Omit<LedgerPage, 'limit' | 'after'>

const screenful = 50
const pageRows = 5000

export function ledgerCommand(context: Context): Command {
  const shown = command(
    'ledger',
    'List the charges of an account, a key or one request, newest first',
    'ledger --account Acme --limit 20',
  )
    .option('--account <account>', 'only charges to this account: its id or name')
    .option('--key <id>', 'only charges of this key', argument(parseId))
    .option('--request <id>', 'only the charge of this request: its request-id header', argument(parseId))
    .option('--limit <n>', `at most this many rows (default: all with --json, else ${screenful})`, argument(parseCount))
    .option('--from <when>', "from this date, in the firm's time zone, or from this time", argument(parseMoment))
    .option('--to <when>', 'up to and including this date, or before this time', argument(parseMoment))
    .action(async ({ json, account, key, request, limit, ...period }: LedgerOptions) => {
      if (account === undefined && key === undefined && request === undefined) {
        shown.error('error: name what to list: --account, --key or --request')
      }
      const from = period.from && (await beginningIn(context, period.from))
      const to = period.to && (await endIn(context, period.to))
      if (from && to && from >= to) shown.error('error: --from must be before --to')
      const database = await context.database()
      const { createLedger } = await import('../billing/reports/ledger.ts')
      const accountId = account === undefined ? undefined : await accountIdOf(database, account)
      const selection = { accountId, keyId: key, requestId: request, from, to }
      const { recordedQuery } = await import('../access/audit/recorded-query.ts')
      const query = { account: accountId, key, request, from: from?.toISOString(), to: to?.toISOString() }
      await recordView(context, { action: 'requests_read', noun: 'usage', details: recordedQuery(query) })
      const ledger = createLedger({ database })
      if (json) return writeRows(context.stdout, pages(ledger, selection, limit ?? Infinity))
      return writeScreen(context, ledger, selection, limit ?? screenful)
    })
  return shown
}

async function accountIdOf(database: Database, account: string): Promise<string> {
  const { createAccounts } = await import('../accounts/accounts.ts')
  return (await createAccounts({ database }).find(account)).id
}

/** Throws a RangeError. */
function parseId(text: string): string {
  if (!isUuid(text)) throw new RangeError('must be an id such as 0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11')
  return text.toLowerCase()
}

/** In pages, because a ledger may not fit in memory. */
async function* pages(ledger: Ledger, selection: Selection, limit: number): AsyncGenerator<LedgerRow[]> {
  let after: LedgerRow | undefined
  for (let left = limit; left > 0;) {
    const page = await ledger.page({ ...selection, after, limit: Math.min(left, pageRows) })
    if (page.length > 0) yield page
    if (page.length < pageRows) return
    left -= page.length
    after = page.at(-1)
  }
}

async function writeRows(stdout: Writable, all: AsyncIterable<LedgerRow[]>): Promise<void> {
  let before = '{"rows":['
  for await (const page of all) {
    const text = page.map((row) => JSON.stringify(toJson(row))).join(',')
    if (!stdout.writable) return
    if (!stdout.write(before + text) && !(await isDrained(stdout))) return
    before = ','
  }
  stdout.write(`${before === ',' ? '' : before}]}\n`)
}

/** Waits until the reader has caught up. Returns false if it is gone; main.ts reports the error. */
async function isDrained(stdout: Writable): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const [proceed, stop] = [() => resolve(true), () => resolve(false)]
  stdout.on('drain', proceed).on('close', stop).on('error', stop)
  const drained = await promise
  stdout.off('drain', proceed).off('close', stop).off('error', stop)
  return drained
}

async function writeScreen(context: Context, ledger: Ledger, selection: Selection, limit: number): Promise<void> {
  const rows = await ledger.page({ ...selection, limit: limit + 1 })
  const format = await formatFor(context)
  const shown = rows.slice(0, limit)
  writeTable(
    context,
    shown,
    [
      { title: 'AT', text: ({ at }) => format.second(new Date(at)) },
      { title: 'REQUEST', text: ({ requestId }) => requestId },
      { title: 'MODEL', text: ({ model }) => model },
      format.numberColumn('INPUT', promptTokensOf),
      format.numberColumn('OUTPUT', ({ outputTokens }) => outputTokens),
      format.amountColumn('COST', shown, ({ cost }) => formatMoney(cost)),
      { title: 'ENDED', text: ({ stopReason }) => stopReason },
      { title: 'COUNTED BY', text: ({ usageSource }) => usageSource },
    ],
    'No charges match. A charge appears as soon as its request has been answered.',
  )
  if (rows.length > limit)
    writeLines(context, '', 'There are more rows: raise --limit, or get all of them with --json.')
}

function toJson(row: LedgerRow): object {
  return {
    request_id: row.requestId,
    at: row.at,
    key_id: row.keyId,
    person_id: row.personId,
    model: row.model,
    client_id: row.clientId,
    input_tokens: row.inputTokens,
    output_tokens: row.outputTokens,
    cached_tokens: row.cachedTokens,
    cache_write_tokens: row.cacheWriteTokens,
    input_price: formatPrice(row.inputPrice),
    output_price: formatPrice(row.outputPrice),
    cached_price: row.cachedPrice === null ? null : formatPrice(row.cachedPrice),
    cache_write_price: row.cacheWritePrice === null ? null : formatPrice(row.cacheWritePrice),
    cost: formatMoney(row.cost),
    stop_reason: row.stopReason,
    usage_source: row.usageSource,
    uncharged_input: row.unchargedInput,
    uncharged_output: row.unchargedOutput,
    tags: row.tags,
  }
}
