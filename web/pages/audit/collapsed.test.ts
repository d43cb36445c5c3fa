import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AuditRow } from '../../../src/clients/schema.ts'
import { collapsed } from './collapsed.ts'

let id = 100
function event(action: string, more: Partial<AuditRow> = {}): AuditRow {
  id -= 1
  const actor = { kind: 'person', id: 'anna', name: 'Anna' } as const
  const nothing = { person: null, client: null, noun: null, noun_id: null, request_id: null, address: null }
  return {
    id: String(id),
    at: '2026-11-21T10:00:00Z',
    action,
    outcome: 'allowed',
    actor,
    ...nothing,
    details: {},
    ...more,
  }
}

const client = { id: 'harbour', name: 'Harbour' }
const other = { id: 'orchard', name: 'Orchard' }
const counts = (...rows: AuditRow[]) => collapsed(rows).map(({ count }) => count)

test('successive views of one record by one person are one row, with the newest and the oldest event', () => {
  const rows = [event('note_read', { client }), event('client_read', { client }), event('client_read', { client })]
  assert.deepEqual(collapsed(rows), [{ row: rows[0], first: rows[2], count: 3 }])
  assert.deepEqual(counts(event('clients_listed'), event('clients_listed')), [2])
})

test('another record, another person, a change and a refusal each begin a row', () => {
  assert.deepEqual(counts(event('client_read', { client }), event('client_read', { client: other })), [1, 1])
  const ben = { kind: 'person', id: 'ben', name: 'Ben' } as const
  assert.deepEqual(counts(event('client_read', { client }), event('client_read', { client, actor: ben })), [1, 1])
  assert.deepEqual(
    counts(event('client_read', { client }), event('client_changed', { client }), event('client_read', { client })),
    [1, 1, 1],
  )
  assert.deepEqual(counts(event('client_changed', { client }), event('client_changed', { client })), [1, 1])
  assert.deepEqual(
    counts(event('client_read', { client }), event('client_read', { client, outcome: 'refused' })),
    [1, 1],
  )
  assert.deepEqual(counts(event('clients_listed'), event('people_listed')), [1, 1])
})
