import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { announced } from '../support/tamper.ts'
import { assertRefused, ok } from '../support/answer.ts'
import { openFirm } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { setUp } from '../support/fixture.ts'

const { firm, anna, paula } = openFirm(() => ({ letters: { approval: 'not-writer' } }))
let client: string
setUp(async () => {
  client = await firm.client(anna, 'Harbour Lane Bakery')
})

/** A new draft of Anna's. Returns its path. */
async function draft(): Promise<string> {
  const letter = await anna.send('POST', `/clients/${client}/letters`, { subject: 'Our offer', body: 'Dear Maria' })
  return `/clients/${client}/letters/${String(ok(letter, 201).json['id'])}`
}

const any = { 'if-match': '*' }

describe('letters.approval: not-writer', () => {
  test('lets nobody approve what they wrote, by no request, and names the field', async () => {
    const letter = await draft()
    for (const status of ['approved', 'sent']) {
      for (const refused of [
        await anna.send('PATCH', letter, { status }, any),
        await anna.send('POST', `/clients/${client}/letters`, { subject: 'Other', status }),
        await paula.send('PATCH', letter, { body: 'Dear Mary', status }, any),
      ]) {
        assert.equal(refused.status, 403)
        assertRefused(refused, 'forbidden', 'status')
        assert.match(String(refused.error['reason']), /ask someone else to review it/)
      }
    }
    const to = [{ contact: null, email: 'maria@example.com' }]
    assert.equal((await anna.send('POST', `${letter}/send`, { to }, any)).status, 409)
    const { status, version } = ok(await anna.get(letter)).json
    assert.deepEqual([status, version], ['draft', 1])
    const { json } = await paula.get(`/audit?action=access_denied&client=${client}`)
    assert.deepEqual(
      [at(json, 'audit', 0, 'details', 'tried'), at(json, 'audit', 0, 'outcome')],
      ['letter_sent', 'refused'],
    )

    const approved = ok(await paula.send('PATCH', letter, { status: 'approved' }, any)).json
    assert.equal(at(approved, 'approved_by', 'name'), 'Paula')
    assert.equal(ok(await anna.send('PATCH', letter, { status: 'sent' }, any)).json['status'], 'sent')
  })

  test('holds in the database too, where an instance that started later may have left another rule', async () => {
    const path = `/clients/${client}/letters`
    const letter = `${path}/${String(ok(await paula.send('POST', path, { subject: 'Our offer' }), 201).json['id'])}`
    await firm.service.database.rows(announced('update letter_approval set rule = $1'), ['partners'])
    const refused = await anna.send('PATCH', letter, { status: 'approved' }, any)
    await firm.service.database.rows(announced('update letter_approval set rule = $1'), ['not-writer'])
    assert.equal(refused.status, 403)
    assertRefused(refused, 'forbidden', 'status')
    ok(await anna.send('PATCH', letter, { status: 'approved' }, any))
  })
})
