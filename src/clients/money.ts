import { formatMoney } from '../billing/money.ts'

/** An amount of a column as people see it, with two decimals at least; null where there is none. */
export function shownMoney(amount: unknown): string | null {
  if (typeof amount !== 'string') return null
  const [whole = '', fraction = ''] = formatMoney(BigInt(amount)).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
