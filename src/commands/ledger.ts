import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Ledger, LedgerRow } from '../billing/ledger.ts'
import { formatMoney, formatPrice } from '../billing/money.ts'
import { argument, command, parseCount, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { amountsIn, writeLines, writeTable } from './output.ts'
import { parseEnd, parseMoment } from './times.ts'

interface LedgerOptions extends CommonOptions {
  readonly account: string
  readonly limit?: number
  readonly from?: Date
  readonly to?: Date
}

interface Span {
  readonly accountId: string
  readonly from: Date | undefined
  readonly to: Date | undefined
}

const screenful = 50
const pageRows = 5000

export function ledgerCommand(context: Context): Command {
  const shown = command(
    'ledger',
    'Every charged call of an account, the newest first',
    'ledger --account Acme --limit 20',
  )
    .requiredOption('--account <account>', 'its id or name')
    .option('--limit <n>', `at most so many (all with --json, else ${screenful})`, argument(parseCount))
    .option('--from <when>', 'a date or time', argument(parseMoment))
    .option('--to <when>', 'a date, which is included, or a time', argument(parseEnd))
    .action(async ({ json, account, limit, from, to }: LedgerOptions) => {
      if (from && to && from >= to) shown.error('error: --from must be before --to')
      const database = await context.database()
      const { createAccounts } = await import('../accounts/accounts.ts')
      const { createLedger } = await import('../billing/ledger.ts')
      const { id } = await createAccounts({ database }).find(account)
      const span = { accountId: id, from, to }
      const ledger = createLedger({ database })
      if (json) return writeRows(context.stdout, pages(ledger, span, limit ?? Infinity))
      return writeScreen(context, ledger, span, limit ?? screenful)
    })
  return shown
}

/** A ledger may be larger than the memory: it is read and written page by page. */
async function* pages(ledger: Ledger, span: Span, limit: number): AsyncGenerator<LedgerRow[]> {
  let after: LedgerRow | undefined
  for (let left = limit; left > 0;) {
    const page = await ledger.page({ ...span, after, limit: Math.min(left, pageRows) })
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
    if (!stdout.write(before + text) && !(await isReadOn(stdout))) return
    before = ','
  }
  stdout.write(`${before === ',' ? '' : before}]}\n`)
}

/** Waits until what was written is read. Returns false where it cannot be, of which main.ts hears. */
async function isReadOn(stdout: Writable): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const [goOn, stop] = [() => resolve(true), () => resolve(false)]
  stdout.on('drain', goOn).on('close', stop).on('error', stop)
  const isRead = await promise
  stdout.off('drain', goOn).off('close', stop).off('error', stop)
  return isRead
}

async function writeScreen(context: Context, ledger: Ledger, span: Span, limit: number): Promise<void> {
  const rows = await ledger.page({ ...span, limit: limit + 1 })
  const { currency } = await context.config()
  const inCurrency = amountsIn(currency)
  writeTable(
    context,
    rows.slice(0, limit),
    [
      { title: 'AT', text: ({ at }) => `${at.slice(0, 19).replace('T', ' ')}Z` },
      { title: 'REQUEST', text: ({ requestId }) => requestId },
      { title: 'MODEL', text: ({ model }) => model },
      { title: 'INPUT', text: ({ inputTokens }) => String(inputTokens), right: true },
      { title: 'OUTPUT', text: ({ outputTokens }) => String(outputTokens), right: true },
      { title: `COST (${currency})`, text: ({ cost }) => inCurrency(formatMoney(cost)), right: true },
      { title: 'ENDED', text: ({ stopReason }) => stopReason },
      { title: 'COUNTED BY', text: ({ usageSource }) => usageSource },
    ],
    'No charged calls in this time. A row appears as soon as a call has been answered.',
  )
  if (rows.length > limit) writeLines(context, '', `There are more: raise --limit, or take all of them with --json.`)
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
    input_price: formatPrice(row.inputPrice),
    output_price: formatPrice(row.outputPrice),
    cost: formatMoney(row.cost),
    stop_reason: row.stopReason,
    usage_source: row.usageSource,
    uncharged_input: row.unchargedInput,
    uncharged_output: row.unchargedOutput,
  }
}
