import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AccountShown } from '../../../src/accounts/schema.ts'
import { inOrder } from './order.ts'

const account = (name: string, changes: Partial<AccountShown> = {}): AccountShown => ({
  id: name,
  name,
  status: 'open',
  own: false,
  requests_per_minute: 1,
  tokens_per_minute: 1,
  monthly_limit: null,
  billing_name: null,
  billing_address: null,
  billing_tax_number: null,
  billing_email: null,
  credit_left: '0',
  held: '0',
  credited: '0',
  charged: '0',
  month_charged: '0',
  currency: 'USD',
  created_at: '2026-01-01T00:00:00.000Z',
  closed_at: null,
  last_used_at: null,
  version: 1,
  ...changes,
})

const namesOf = (accounts: readonly AccountShown[]) => accounts.map(({ name }) => name).join(' ')

test('amounts are sorted as numbers, exactly, with closed accounts last', () => {
  const accounts = [
    account('closed', { status: 'closed', credit_left: '5' }),
    account('nine', { credit_left: '9' }),
    account('more', { credit_left: '99999999999999.000000000002' }),
    account('less', { credit_left: '99999999999999.000000000001' }),
    account('ten', { credit_left: '10' }),
    account('alsoTen', { credit_left: '10' }),
  ]
  const up = inOrder(accounts, { column: 'money', descending: false })
  assert.equal(namesOf(up), 'nine alsoTen ten less more closed')
  const down = inOrder(accounts, { column: 'money', descending: true })
  assert.equal(namesOf(down), 'more less alsoTen ten nine closed')
})

test('accounts that were never used are sorted as if used before all others', () => {
  const accounts = [
    account('late', { last_used_at: '2026-03-01T00:00:00.000Z' }),
    account('never'),
    account('early', { last_used_at: '2026-02-01T00:00:00.000Z' }),
  ]
  assert.equal(namesOf(inOrder(accounts, { column: 'used', descending: true })), 'late early never')
})
