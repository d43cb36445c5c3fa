import { Option, type Command } from 'commander'
import type { KeyLimits, KeySummary } from '../accounts/keys/keys.ts'
import { formatMoney } from '../billing/prices/money.ts'
import { amountArgument, moneyIn } from './output/amounts.ts'
import { argument, parseCount, type CommonOptions } from './command.ts'
import type { Context } from './context.ts'
import type { Format } from './output/format.ts'

/** Removes a limit. */
const none = 'none'

export interface KeyLimitOptions extends CommonOptions {
  readonly rpm?: number | typeof none
  readonly tpm?: number | typeof none
  readonly dailyBudget?: string
  readonly monthlyBudget?: string
}

/** The options for the limits of a key, within those of its account. */
export function withKeyLimits(command: Command): Command {
  const count = orNone(argument(parseCount))
  const amount = orNone(amountArgument)
  return command
    .addOption(
      new Option('--daily-budget <amount>', 'the maximum it may spend per day (UTC), or none').argParser(amount),
    )
    .addOption(
      new Option('--monthly-budget <amount>', 'the maximum it may spend per month (UTC), or none').argParser(amount),
    )
    .addOption(new Option('--rpm <n>', 'its requests per minute, or none').argParser(count))
    .addOption(new Option('--tpm <n>', 'its tokens per minute, or none').argParser(count))
}

/** The given limits. */
export async function keyLimitsOf(context: Context, { rpm, tpm, dailyBudget, monthlyBudget }: KeyLimitOptions) {
  const budgetIn = async (name: string, typed: string | undefined) =>
    typed === none ? null : moneyIn(context, name, typed)
  return {
    requestsPerMinute: rpm === none ? null : rpm,
    tokensPerMinute: tpm === none ? null : tpm,
    dailyBudget: await budgetIn('--daily-budget', dailyBudget),
    monthlyBudget: await budgetIn('--monthly-budget', monthlyBudget),
  }
}

/** The limits of a key with what was spent: `1.20 of 5.00 USD today, 60 requests/min`. Empty without any. */
export function limitText(key: KeySummary, { amount, money, number }: Format): string {
  const { dailyBudget, monthlyBudget, requestsPerMinute, tokensPerMinute }: KeyLimits = key
  const spent = (charged: bigint | null, budget: bigint) =>
    `${amount(formatMoney(charged ?? 0n))} of ${money(formatMoney(budget))}`
  return [
    dailyBudget === null ? [] : `${spent(key.dayCharged, dailyBudget)} today`,
    monthlyBudget === null ? [] : `${spent(key.monthCharged, monthlyBudget)} this month`,
    requestsPerMinute === null ? [] : `${number(requestsPerMinute)} requests/min`,
    tokensPerMinute === null ? [] : `${number(tokensPerMinute)} tokens/min`,
  ]
    .flat()
    .join(', ')
}

const orNone =
  <Value>(parse: (text: string) => Value) =>
  (text: string): Value | typeof none =>
    text === none ? none : parse(text)
