import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditEntry } from '../access/audit/audit.ts'
import { createRefusals } from './refused-visitors.ts'

const office = { network: '192.0.2.0/24', address: '192.0.2.7', requestId: 'r' }
const elsewhere = { network: '198.51.100.0/24', address: '198.51.100.7', requestId: 'r' }
const entry = { action: 'sign_in_failed', details: { why: 'x' } } as const

function open() {
  let now = 0
  const rows: AuditEntry[] = []
  const refusals = createRefusals({ audit: { record: async (row) => void rows.push(row) }, clock: () => now })
  return {
    ...refusals,
    rows,
    pass: (ms: number) => (now += ms),
    more: () => rows.map(({ details }) => details?.['more']),
  }
}

test('a network gets ten rows a minute, and the next row says how many are missing', async () => {
  const { record, rows, pass, more } = open()
  for (let n = 0; n < 500; n++) await record(office, entry)
  assert.equal(rows.length, 10)
  assert.deepEqual(rows[0], {
    actor: { kind: 'visitor' },
    action: 'sign_in_failed',
    outcome: 'refused',
    requestId: 'r',
    address: '192.0.2.7',
    details: { why: 'x' },
  })
  await record(elsewhere, entry)
  pass(6000)
  for (let n = 0; n < 2; n++) await record(office, entry)
  pass(6000)
  await record(office, entry)
  assert.deepEqual(more().slice(10), [undefined, '490', '1'])
})

test('a cookie without a session gets one row', async () => {
  const { recordCookie, rows } = open()
  for (let n = 0; n < 3; n++) await recordCookie(office, 'first')
  await recordCookie(elsewhere, 'second')
  assert.deepEqual(
    rows.map(({ action, address }) => [action, address]),
    [
      ['session_unknown', '192.0.2.7'],
      ['session_unknown', '198.51.100.7'],
    ],
  )
})
