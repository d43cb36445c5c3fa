import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordedQuery } from './recorded-query.ts'

const id = '0199d0c2-61aa-7d11-9b72-4f0e8c25a7d5'

test('ids, times and the words of the program are recorded as they are', () => {
  const query = {
    client: id,
    from: '2026-03-12',
    to: '2026-03-12T10:00Z',
    action: 'invoice_paid',
    code: 'rate_limit_exceeded',
    by: 'day,model',
    format: 'csv',
    outcome: 'refused',
    actor: 'person',
    limit: '50',
  }
  assert.deepEqual(recordedQuery({ ...query, account: undefined }), query)
  assert.deepEqual(recordedQuery({ by: 'day' }), { by: 'day' })
})

test('any other text is not: it could be a name', () => {
  for (const text of [
    'Moreau',
    'moreau',
    'day',
    'day,model',
    'moreau,',
    'Anna Moreau',
    'anna-moreau',
    '2026-99-12',
    '',
    `${id} Moreau`,
  ]) {
    assert.deepEqual(recordedQuery({ client: text, action: text, from: text }), { client: '?', action: '?', from: '?' })
  }
})
