import { quotientHalfEven } from './decimal.ts'

/** The number `digits` × 10^-`scale`. */
export interface ExactDecimal {
  readonly digits: bigint
  readonly scale: number
}

const shape = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const mostDigits = 60
const mostExponent = 60

/**
 * Parses a decimal number as JSON writes it, `0.15`, `1.5e-07` or `15E-8`, without the detour of a float, which has neither.
 * Throws a RangeError whose message completes "The value …".
 */
export function parseExactDecimal(text: string): ExactDecimal {
  const [, sign = '', whole = '', fraction = '', power = '0'] = shape.exec(text) ?? []
  if (whole === '') throw new RangeError('must be a decimal number such as 0.15 or 1.5e-07')
  if (whole.length + fraction.length > mostDigits) throw new RangeError(`must have at most ${mostDigits} digits`)
  // Number() of a long text is infinite, or exact.
  const exponent = Number(power)
  if (Math.abs(exponent) > mostExponent) {
    throw new RangeError(`must have an exponent between -${mostExponent} and ${mostExponent}`)
  }
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - exponent }
}

export function product(one: ExactDecimal, other: ExactDecimal): ExactDecimal {
  return { digits: one.digits * other.digits, scale: one.scale + other.scale }
}

/** The number as an integer in units of 10^-decimals. Throws a RangeError if it is none. */
export function exactUnits({ digits, scale }: ExactDecimal, decimals: number): bigint {
  if (scale <= decimals) return digits * 10n ** BigInt(decimals - scale)
  const divisor = 10n ** BigInt(scale - decimals)
  if (digits % divisor !== 0n) throw new RangeError(`must have at most ${decimals} decimals`)
  return digits / divisor
}

/** The nearest integer in units of 10^-decimals; of two, the even one. */
export function nearestUnits({ digits, scale }: ExactDecimal, decimals: number): bigint {
  if (scale <= decimals) return digits * 10n ** BigInt(decimals - scale)
  return quotientHalfEven(digits, 10n ** BigInt(scale - decimals))
}
