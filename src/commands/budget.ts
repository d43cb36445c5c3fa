import { Option, type Command } from 'commander'
import type { Budget, Budgets } from '../accounts/budgets/budgets.ts'
import { presentBudget } from '../accounts/present.ts'
import { formatMoney } from '../billing/prices/money.ts'
import { amountArgument, moneyIn } from './output/amounts.ts'
import { argument, command, group, parseList, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import { formatFor, type Format } from './output/format.ts'
import { operator, recordView } from './operator.ts'
import { writeJson, writeLines, writeTable } from './output/output.ts'
import { beginningIn, parseTimeOption, type InstantOrDay } from './output/times.ts'

interface OfAccount extends CommonOptions {
  readonly account: string
}

interface CreateOptions extends OfAccount {
  readonly name: string
  readonly amount: string
  readonly period: Budget['period']
  readonly timeZone?: string
  readonly keys?: readonly string[]
  readonly tag?: NonNullable<Budget['tag']>
  readonly soft?: true
}

interface ChangeOptions extends OfAccount {
  readonly name?: string
  readonly amount?: string
  readonly keys?: readonly string[]
  readonly soft?: true
  readonly hard?: true
}

interface RaiseOptions extends OfAccount {
  readonly by: string
  readonly until?: InstantOrDay
}

const spans: Readonly<Record<Budget['period'], string>> = {
  day: 'per day',
  week: 'per week',
  month: 'per month',
  total: 'in total',
}
const which = ['<budget>', 'its id or name'] as const

export function budgetCommand(context: Context): Command {
  return group('budget', 'Manage budgets that keys or a tag share', [
    createCommand(context),
    listCommand(context),
    changeCommand(context),
    raiseCommand(context),
    removeCommand(context),
  ])
}

const amountOption = () =>
  new Option('--amount <amount>', 'the most that may be spent in a period').argParser(amountArgument)
const keysOption = () =>
  new Option('--keys <ids>', 'the ids of the keys that share it: a,b').argParser(argument(parseList))

function createCommand(context: Context): Command {
  const create = ofAccount(
    command(
      'create',
      'Create a budget of some keys, or of a tag',
      'budget create --account Acme --name Apollo --amount 50.00 --period month --tag project=Apollo',
    ),
  )
    .requiredOption('--name <name>', 'its name, which callers see when it refuses them')
    .addOption(amountOption().makeOptionMandatory())
    .addOption(
      new Option('--period <period>', 'how long it lasts until it is renewed')
        .choices(Object.keys(spans))
        .makeOptionMandatory(),
    )
    .addOption(keysOption().conflicts('tag'))
    .option('--tag <name=value>', 'instead: the tag whose requests share it', argument(parseTag))
    .option('--soft', 'refuse nothing: only count, for reports and alerts')
    .option('--time-zone <zone>', "where its periods begin at midnight: UTC or the firm's, the default")
    .action(async ({ json, account, amount, soft, ...asked }: CreateOptions) => {
      if (asked.keys === undefined && asked.tag === undefined) create.error('error: give either --keys or --tag')
      const { budgets, accountId } = await openBudgets(context, account)
      const order = { ...asked, accountId, amount: await moneyIn(context, '--amount', amount), hard: soft !== true }
      return writeBudget(context, await budgets.create(order, operator()), json)
    })
  return create
}

function listCommand(context: Context): Command {
  return ofAccount(
    command('list', 'List the budgets of an account, with what is left', 'budget list --account Acme'),
  ).action(async ({ json, account }: OfAccount) => {
    const { budgets, accountId } = await openBudgets(context, account)
    await recordView(context, { action: 'account_budgets_listed', noun: 'account', nounId: accountId })
    const all = await budgets.list(accountId)
    if (json) return writeJson(context, { budgets: all.map(presentBudget) })
    const format = await formatFor(context)
    return writeTable(
      context,
      all,
      [
        { title: 'NAME', text: ({ name }) => name },
        { title: 'OF', text: sharers },
        { title: 'SPENT', text: (budget) => spentText(budget, format) },
        { title: 'KIND', text: ({ hard }) => (hard ? 'hard' : 'soft') },
        { title: 'RENEWED', text: ({ renewsAt }) => (renewsAt === null ? 'never' : format.minute(renewsAt)) },
        { title: 'ID', text: ({ id }) => id },
      ],
      `No budgets yet. Create one: ./tollgate budget create --account ${account} --name Team --amount 50.00 --period month --keys <ids>`,
    )
  })
}

function changeCommand(context: Context): Command {
  const change = ofAccount(
    command(
      'change',
      "Change a budget's name, amount, keys or kind",
      'budget change Apollo --account Acme --amount 60.00',
    ),
  )
    .argument(...which)
    .option('--name <name>', 'its new name')
    .addOption(amountOption())
    .addOption(keysOption())
    .option('--soft', 'only count from now on')
    .addOption(new Option('--hard', 'refuse requests that it does not cover from now on').conflicts('soft'))
    .action(async (budget: string, { json, account, amount, soft, hard, ...rest }: ChangeOptions) => {
      const to = { ...rest, ...(amount !== undefined && { amount: await moneyIn(context, '--amount', amount) }) }
      const kind = soft ? { hard: false } : hard ? { hard: true } : {}
      if (Object.keys({ ...to, ...kind }).length === 0) {
        change.error('error: name at least one change: --name, --amount, --keys, --soft or --hard')
      }
      const { budgets, find } = await openBudgets(context, account)
      return writeBudget(context, await budgets.change(await find(budget), { ...to, ...kind }, operator()), json)
    })
  return change
}

function raiseCommand(context: Context): Command {
  return ofAccount(
    command(
      'raise',
      'Raise a budget until its period ends, or until a time',
      'budget raise Apollo --account Acme --by 20.00 --until 2030-01-31',
    ),
  )
    .argument(...which)
    .addOption(
      new Option('--by <amount>', 'what is added to its amount in each period until then; 0 ends the raise')
        .argParser(amountArgument)
        .makeOptionMandatory(),
    )
    .option(
      '--until <when>',
      'a date, a time or a duration such as 7d; default the end of the current period',
      argument(parseTimeOption),
    )
    .action(async (budget: string, { json, account, by, until }: RaiseOptions) => {
      const amount = await moneyIn(context, '--by', by)
      const end = until === undefined ? undefined : await beginningIn(context, until)
      const { budgets, find } = await openBudgets(context, account)
      const raised = await budgets.raise(await find(budget), { by: amount, until: end }, operator())
      return writeBudget(context, raised, json)
    })
}

function removeCommand(context: Context): Command {
  return ofAccount(command('remove', 'Remove a budget', 'budget remove Apollo --account Acme'))
    .argument(...which)
    .action(async (budget: string, { json, account }: OfAccount) => {
      const { budgets, find } = await openBudgets(context, account)
      const { id, name, accountId } = await find(budget)
      await budgets.remove({ accountId, id }, operator())
      return json ? writeJson(context, { id, removed: true }) : writeLines(context, `Removed ${name}.`)
    })
}

const ofAccount = (of: Command): Command => of.requiredOption('--account <account>', 'its account: the id or name')

async function openBudgets(context: Context, account: string) {
  const { createAccounts } = await import('../accounts/accounts.ts')
  const { createBudgets } = await import('../accounts/budgets/budgets.ts')
  const { firm } = await context.config()
  const database = await context.database()
  const { id: accountId } = await createAccounts({ database }).find(account)
  const budgets: Budgets = createBudgets({ database, timeZone: firm.time_zone })
  return { budgets, accountId, find: (idOrName: string) => budgets.find(accountId, idOrName) }
}

async function writeBudget(context: Context, budget: Budget, json: true | undefined): Promise<void> {
  if (json) return writeJson(context, presentBudget(budget))
  const format = await formatFor(context)
  const { name, hard, raise } = budget
  const kind = hard ? 'hard' : 'soft: it refuses nothing'
  const raised =
    raise === null ? '' : ` Raised by ${format.money(formatMoney(raise.by))} until ${format.minute(raise.until)}.`
  return writeLines(context, `${name} (${kind}): ${spentText(budget, format)}.${raised}`)
}

/** `1.20 of 5.00 USD per month` */
const spentText = ({ charged, limit, period }: Budget, { amount, money }: Format): string =>
  `${amount(formatMoney(charged))} of ${money(formatMoney(limit))} ${spans[period]}`

const sharers = ({ tag, keys }: Budget): string =>
  tag === null ? `${keys?.length ?? 0} ${keys?.length === 1 ? 'key' : 'keys'}` : `${tag.name}=${tag.value}`

/** Splits `name=value` at the first sign. Throws a RangeError. */
function parseTag(text: string): NonNullable<Budget['tag']> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (name === undefined || value === undefined)
    throw new RangeError('must be a name and a value, such as project=Apollo')
  return { name, value }
}
