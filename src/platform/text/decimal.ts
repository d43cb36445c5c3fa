/**
 * Exact decimal numbers as scaled integers: `0.10` with six decimals is `100000n`. Money and prices are never floats. The
 * pages are built with this file: it imports nothing.
 */

const shape = /^(-?)(\d+)(?:\.(\d+))?$/
const mostDigits = 24

/**
 * Parses a decimal number as an integer in units of 10^-decimals: `parseDecimal('0.10', 6)` is `100000n`.
 *
 * Accepts plain decimals only: no exponent, plus sign, separators or spaces, at most 24 digits before the point and at most
 * `decimals` after it. Throws a RangeError whose message completes "The value …".
 */
export function parseDecimal(text: string, decimals: number): bigint {
  const parts = shape.exec(text)
  if (parts === null) throw new RangeError(`must be a decimal number such as ${formatExample(decimals)}`)
  const [, sign = '', whole = '', fraction = ''] = parts
  if (whole.length > mostDigits) throw new RangeError(`must have at most ${mostDigits} digits before the point`)
  if (fraction.length > decimals) {
    throw new RangeError(decimals === 0 ? 'must be a whole number' : `must have at most ${decimals} decimals`)
  }
  const value = BigInt(whole + fraction.padEnd(decimals, '0'))
  return sign === '-' ? -value : value
}

/** Whether a text is a plain decimal. `Intl.NumberFormat` formats such a text with all its digits, without reading it as a number. */
export const isDecimal = (text: string): text is `${number}` => shape.test(text)

/** The shortest text that `parseDecimal` parses as `value`: no trailing zeros, no point without decimals. */
export function formatDecimal(value: bigint, decimals: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, digits.length - decimals)
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '')
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`
}

/** The nearest integer to a quotient; of two, the even one. The divisor is positive. */
export function quotientHalfEven(dividend: bigint, divisor: bigint): bigint {
  const whole = dividend / divisor
  const rest = dividend % divisor
  const twice = (rest < 0n ? -rest : rest) * 2n
  if (twice < divisor || (twice === divisor && whole % 2n === 0n)) return whole
  return whole + (dividend < 0n ? -1n : 1n)
}

function formatExample(decimals: number): string {
  return decimals === 0 ? '12' : '0.40'.slice(0, 2 + decimals)
}
