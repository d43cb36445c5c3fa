import { Option, type Command } from 'commander'
import type { Account, Accounts } from '../accounts/accounts.ts'
import { presentAccount } from '../accounts/present.ts'
import { formatMoney } from '../billing/prices/money.ts'
import { amountArgument, moneyIn } from './output/amounts.ts'
import { argument, command, group, parseCount, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { formatFor } from './output/format.ts'
import { operator, recordView } from './operator.ts'
import { writeJson, writeLines, writeTable } from './output/output.ts'

interface LimitOptions extends CommonOptions {
  readonly rpm?: number
  readonly tpm?: number
  readonly monthlyLimit?: string
}
interface CreateOptions extends LimitOptions {
  readonly name: string
  readonly credit?: string
  readonly own?: true
}

interface BillingOptions extends CommonOptions {
  readonly name?: string
  readonly address?: readonly string[]
  readonly taxNumber?: string
  readonly email?: string
}

const which = ['<account>', 'its id or name'] as const

export function accountCommand(context: Context): Command {
  return group('account', 'Manage accounts: their credit and limits', [
    createCommand(context),
    listCommand(context),
    showCommand(context),
    creditCommand(context),
    limitCommand(context),
    billingCommand(context),
    ownCommand(context),
    closeCommand(context),
  ])
}

function createCommand(context: Context): Command {
  return withLimits(command('create', 'Create an account', 'account create --name Acme --credit 25.00'))
    .requiredOption('--name <name>', 'its name, which is unique')
    .addOption(
      new Option('--credit <amount>', 'paid in advance; requests are refused when it is used up').argParser(
        amountArgument,
      ),
    )
    .addOption(monthlyLimit().conflicts('credit'))
    .option('--own', "mark it as the firm's own, so that its requests can be attributed to clients")
    .action(async ({ json, name, ...options }: CreateOptions) => {
      const { limits } = await context.config()
      const credit = await moneyIn(context, '--credit', options.credit)
      const monthly = await moneyIn(context, '--monthly-limit', options.monthlyLimit)
      const account = await (
        await openAccounts(context)
      ).create(
        {
          name,
          requestsPerMinute: options.rpm ?? limits.requests_per_minute,
          tokensPerMinute: options.tpm ?? limits.tokens_per_minute,
          credit,
          monthlyLimit: monthly,
          own: options.own,
        },
        operator(),
      )
      await writeAccount(context, account, json)
      if (!json)
        writeLines(context, '', `Create a key for it: ./tollgate key create --account ${account.id} --name backend`)
    })
}

function listCommand(context: Context): Command {
  return command('list', 'List all accounts', 'account list').action(async ({ json }: CommonOptions) => {
    await recordView(context, { action: 'accounts_listed', noun: 'account' })
    const accounts = await (await openAccounts(context)).list()
    const { currency } = await context.config()
    if (json) return writeJson(context, { accounts: accounts.map((account) => presentAccount(account, currency)) })
    const format = await formatFor(context)
    const lines = accounts.length > 1 ? [...accounts, totalOf(accounts)] : accounts
    return writeTable(
      context,
      lines,
      [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'STATUS', text: ({ status }) => status },
        format.amountColumn('CREDIT LEFT', lines, ({ creditLeft }) => formatMoney(creditLeft)),
        format.amountColumn('HELD', lines, ({ held }) => formatMoney(held)),
        format.amountColumn('THIS MONTH', lines, ({ monthCharged }) => formatMoney(monthCharged)),
        format.numberColumn('REQUESTS/MIN', ({ requestsPerMinute }) => requestsPerMinute),
        format.numberColumn('TOKENS/MIN', ({ tokensPerMinute }) => tokensPerMinute),
        { title: 'ID', text: ({ id }) => id },
      ],
      'No accounts yet. Create one: ./tollgate account create --name Acme --credit 25.00',
    )
  })
}

/** A row of the table: an account, or the total, which has no limits. */
type AccountLine = Pick<Account, 'creditLeft' | 'held' | 'monthCharged'> &
  Readonly<Record<'id' | 'name' | 'status', string>> &
  Readonly<Record<'requestsPerMinute' | 'tokensPerMinute', number | null>>

function totalOf(accounts: readonly Account[]): AccountLine {
  const sum = (read: (account: Account) => bigint) => accounts.reduce((total, account) => total + read(account), 0n)
  return {
    id: '',
    name: 'Total',
    status: '',
    creditLeft: sum(({ creditLeft }) => creditLeft),
    held: sum(({ held }) => held),
    monthCharged: sum(({ monthCharged }) => monthCharged),
    requestsPerMinute: null,
    tokensPerMinute: null,
  }
}

function showCommand(context: Context): Command {
  return command('show', 'Show one account', 'account show Acme')
    .argument(...which)
    .action(async (name: string, { json }: CommonOptions) => {
      const account = await (await openAccounts(context)).find(name)
      await recordView(context, { action: 'account_read', noun: 'account', nounId: account.id })
      return writeAccount(context, account, json)
    })
}

function creditCommand(context: Context): Command {
  return command('credit', 'Add to the credit of a prepaid account, or subtract from it', 'account credit Acme 25.00')
    .argument(...which)
    .argument('<amount>', 'a decimal number; a negative one is subtracted', amountArgument)
    .option('--note <text>', 'the reason')
    .action(async (account: string, typed: string, { json, note }: CommonOptions & { note?: string }) => {
      const amount = await moneyIn(context, '<amount>', typed)
      const accounts = await openAccounts(context)
      const { id } = await accounts.find(account)
      await writeAccount(context, await accounts.addCredit(id, amount, operator(), note), json)
    })
}

function limitCommand(context: Context): Command {
  const limit = withLimits(command('limit', "Change an account's limits", 'account limit Acme --rpm 120'))
    .argument(...which)
    .addOption(monthlyLimit())
    .action(async (account: string, { json, rpm, tpm, monthlyLimit: typed }: LimitOptions) => {
      if (rpm === undefined && tpm === undefined && typed === undefined) {
        limit.error('error: name at least one limit: --rpm, --tpm or --monthly-limit')
      }
      const accounts = await openAccounts(context)
      const { id } = await accounts.find(account)
      const monthly = await moneyIn(context, '--monthly-limit', typed)
      const limits = { requestsPerMinute: rpm, tokensPerMinute: tpm, monthlyLimit: monthly }
      await writeAccount(context, await accounts.setLimits(id, limits, operator()), json)
    })
  return limit
}

function billingCommand(context: Context): Command {
  const example = 'account billing Acme --name "Acme Ltd" --email billing@acme.example'
  const billing = command('billing', "Change an account's billing details", example)
    .argument(...which)
    .option('--name <name>', 'the name on invoices; if empty, the account name')
    .option('--address <lines...>', 'the postal address, one argument per line')
    .option('--tax-number <number>', "the payer's tax number")
    .option('--email <address>', 'where invoices are sent')
    .action(async (account: string, { json, name, address, taxNumber, email }: BillingOptions) => {
      if ([name, address, taxNumber, email].every((given) => given === undefined)) {
        billing.error('error: give at least one of --name, --address, --tax-number or --email')
      }
      const accounts = await openAccounts(context)
      const { id } = await accounts.find(account)
      const to = { name, address: address?.join('\n'), taxNumber, email }
      await writeAccount(context, await accounts.setBilling(id, to, operator()), json)
    })
  return billing
}

function ownCommand(context: Context): Command {
  return command(
    'own',
    "Mark an account as the firm's own, so that its requests can be attributed to clients",
    'account own Letters',
  )
    .argument(...which)
    .option('--off', 'remove the mark')
    .action(async (account: string, { json, off }: CommonOptions & { off?: true }) => {
      const accounts = await openAccounts(context)
      const { id } = await accounts.find(account)
      await writeAccount(context, await accounts.setOwn(id, off !== true, operator()), json)
    })
}

function closeCommand(context: Context): Command {
  return command('close', 'Close an account: its keys stop working', 'account close Acme')
    .argument(...which)
    .action(async (account: string, { json }: CommonOptions) => {
      const accounts = await openAccounts(context)
      const { id } = await accounts.find(account)
      await writeAccount(context, await accounts.close(id, operator()), json)
    })
}

function withLimits(of: Command): Command {
  return of
    .option(
      '--rpm <n>',
      'requests per minute (for a new account, the default is in the configuration)',
      argument(parseCount),
    )
    .option(
      '--tpm <n>',
      'tokens per minute (for a new account, the default is in the configuration)',
      argument(parseCount),
    )
}

function monthlyLimit(): Option {
  return new Option('--monthly-limit <amount>', 'billed in arrears, at most this much per month').argParser(
    amountArgument,
  )
}

async function openAccounts(context: Context): Promise<Accounts> {
  const database = await context.database()
  const { createAccounts } = await import('../accounts/accounts.ts')
  return createAccounts({ database })
}

async function writeAccount(context: Context, account: Account, json: true | undefined): Promise<void> {
  if (json) return writeJson(context, presentAccount(account, (await context.config()).currency))
  const format = await formatFor(context)
  const money = (amount: bigint) => format.money(formatMoney(amount))
  const monthly = account.monthlyLimit === null ? [] : [['Monthly limit', money(account.monthlyLimit)]]
  const lines = [
    ['Account', account.name],
    ['Id', account.id],
    ['Status', account.status === 'open' ? 'open' : `closed ${format.minute(account.closedAt)}`],
    ...(account.own ? [["Firm's own", 'yes: its requests may be attributed to clients']] : []),
    ...monthly,
    ['Credit left', money(account.creditLeft)],
    ['Held', money(account.held)],
    ['Charged', `${money(account.charged)}, this month ${money(account.monthCharged)}`],
    ['Requests/min', format.number(account.requestsPerMinute)],
    ['Tokens/min', format.number(account.tokensPerMinute)],
    ...billingLines(account),
  ] as const
  return writeLines(context, ...lines.map(([title = '', text = '']) => `${title.padEnd(14)} ${text}`))
}

/** The known billing details. */
function billingLines({ billing }: Account): (readonly [title: string, text: string])[] {
  return [
    ['Billed to', billing.name],
    ['Address', billing.address?.replaceAll('\n', ', ') ?? null],
    ['Tax number', billing.taxNumber],
    ['Email', billing.email],
  ].flatMap(([title, text]) => (typeof title === 'string' && typeof text === 'string' ? [[title, text] as const] : []))
}
