/**
 * Amounts as people type them, for the pages and the commands. The pages are built with this file: it imports nothing.
 */

/** What separates the decimals of a number in a locale. */
export type DecimalMark = '.' | ','

const plain = /^\d+(?:\.\d+)?$/
const commaDecimal = /^\d+,\d+$/
/** One group, and nothing that tells whether its separator is a decimal mark. */
const unclear = /^[1-9]\d{0,2}[.,]\d{3}$/
/** Groups of three, or of two before the last three as in India. */
const commaGroups = /^[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?$|^[1-9]\d?(?:,\d{2})+,\d{3}(?:\.\d+)?$/
const pointGroups = /^[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?$/
/** An apostrophe, or a space of any width, always separates groups. */
const otherGroups = /^[1-9]\d{0,2}(?:(?:['’]\d{3})+|(?:[ \u00a0\u2009\u202f]\d{3})+)(?:[.,]\d+)?$/

/**
 * The plain decimal, `-1234.56`, of an amount as a person types it: `1,234.56`, `1'234.56` and `1 234.56`, and with a
 * decimal comma also `1.234,56` and `1234,56`. Any other text is returned without the spaces around it, for
 * `parseDecimal` to refuse. Throws a RangeError whose message completes "The value …" if the text could be two amounts.
 */
export function plainAmount(text: string, mark: DecimalMark): string {
  const trimmed = text.trim().replace(/^−/, '-')
  const sign = trimmed.startsWith('-') ? '-' : ''
  const amount = trimmed.slice(sign.length)
  if (mark === ',' && unclear.test(amount)) throw new RangeError(choice(sign, amount))
  if (plain.test(amount)) return trimmed
  if (commaGroups.test(amount)) return sign + without(amount, ',')
  if (mark === '.') return otherGroups.test(amount) && !amount.includes(',') ? sign + grouped(amount) : trimmed
  if (commaDecimal.test(amount)) return sign + amount.replace(',', '.')
  if (pointGroups.test(amount)) return sign + without(amount, '.').replace(',', '.')
  return otherGroups.test(amount) ? sign + grouped(amount).replace(',', '.') : trimmed
}

/**
 * A plain decimal for a field that `plainAmount` reads. With a decimal comma, `1.250` could be another amount: it is
 * written as `1.2500`.
 */
export function clearAmount(decimal: string, mark: DecimalMark): string {
  return mark === ',' && unclear.test(decimal.replace(/^-/, '')) ? `${decimal}0` : decimal
}

/** How a locale separates decimals. */
export function decimalMarkOf(locale: string): DecimalMark {
  const parts = new Intl.NumberFormat(locale).formatToParts(0.5)
  return parts.some(({ type, value }) => type === 'decimal' && value === ',') ? ',' : '.'
}

function choice(sign: string, amount: string): string {
  const [whole = '', last = ''] = amount.split(/[.,]/)
  return `could be ${whole}${last} or ${whole}.${last}: write ${sign}${whole}${last} or ${sign}${whole}.${last}0`
}

const grouped = (amount: string): string => amount.replaceAll(/[^\d.,]/g, '')

const without = (amount: string, separator: string): string => amount.replaceAll(separator, '')
