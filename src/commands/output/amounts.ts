import { parseMoney, parsePrice } from '../../billing/prices/money.ts'
import { OperatorError } from '../../platform/problems.ts'
import { decimalMarkOf, plainAmount, type DecimalMark } from '../../platform/text/typed-amount.ts'
import { argument } from '../command.ts'
import type { Context } from '../context.ts'

type Parse = (decimal: string) => bigint

/**
 * An amount as people type it. Text that is no amount in any locale is a usage error; `moneyIn` reads it in the firm's.
 */
export const amountArgument = typed(parseMoney)

/** A price per million tokens as people type it, for `priceIn`. */
export const priceArgument = typed(parsePrice)

/** An amount in 10⁻¹² of the unit. Rejects with OperatorError, with the name of the argument, if it could be two. */
export function moneyIn(context: Context, name: string, text: string): Promise<bigint>
export function moneyIn(context: Context, name: string, text: string | undefined): Promise<bigint | undefined>
export async function moneyIn(context: Context, name: string, text: string | undefined): Promise<bigint | undefined> {
  return text === undefined ? undefined : read(context, name, text, parseMoney)
}

/** A price in 10⁻¹² of the unit per token. Rejects as `moneyIn` does. */
export async function priceIn(context: Context, name: string, text: string): Promise<bigint> {
  return read(context, name, text, parsePrice)
}

async function read(context: Context, name: string, text: string, parse: Parse): Promise<bigint> {
  const { firm } = await context.config()
  try {
    return parse(plainAmount(text, decimalMarkOf(firm.locale)))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new OperatorError(`${name} ${error.message}.`)
  }
}

function typed(parse: Parse): (text: string) => string {
  return argument((text) => {
    if (!canRead(text, ',', parse)) parse(plainAmount(text, '.'))
    return text
  })
}

function canRead(text: string, mark: DecimalMark, parse: Parse): boolean {
  try {
    parse(plainAmount(text, mark))
    return true
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}
