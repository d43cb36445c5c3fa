import type { GrantedAccountShown } from '../../../src/accounts/schema.ts'

/** The columns by which accounts can be sorted. */
export type Column = 'name' | 'money' | 'held' | 'used'

export interface Order {
  readonly column: Column
  readonly descending: boolean
}

/** Sorts open accounts before closed ones, then by the column, then by name. */
export function inOrder<Account extends GrantedAccountShown>(
  accounts: readonly Account[],
  { column, descending }: Order,
): Account[] {
  const sign = descending ? -1 : 1
  return accounts.toSorted(
    (a, b) =>
      Number(a.status === 'closed') - Number(b.status === 'closed') ||
      sign * compare[column](a, b) ||
      compare.name(a, b),
  )
}

const compare: Readonly<Record<Column, (a: GrantedAccountShown, b: GrantedAccountShown) => number>> = {
  name: (a, b) => a.name.localeCompare(b.name, 'en'),
  money: (a, b) => compareAmounts(a.credit_left, b.credit_left),
  held: (a, b) => compareAmounts(a.held, b.held),
  used: (a, b) => (a.last_used_at ?? '').localeCompare(b.last_used_at ?? ''),
}

/** Compares exact decimals that are not negative. */
function compareAmounts(a: string, b: string): number {
  const [x, y] = [scaled(a), scaled(b)]
  return x === y ? 0 : x < y ? -1 : 1
}

function scaled(amount: string): bigint {
  const [whole = '', fraction = ''] = amount.split('.')
  return BigInt(whole + fraction.padEnd(12, '0'))
}
