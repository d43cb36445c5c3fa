import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSeals } from '../../src/platform/seals/seal-line.ts'
import { openFirm } from '../support/firm.ts'
import { sealAll, tamper } from '../support/tamper.ts'

const { firm, anna, paula } = openFirm()

test('a partner verifies the audit log: the number of rows, the last seal, and after a change the row at fault', async () => {
  await sealAll(firm.service.database)
  const [before] = await firm.service.database.rows<{ rows: bigint }>(
    `select sum(rows)::bigint as rows from seal where chain = 'audit'`,
  )
  const { status, json } = await paula.send('POST', '/audit/verification')
  assert.equal(status, 200)
  assert.equal(json['ok'], true)
  assert.ok(Number(json['rows']) >= Number(before?.rows) && Number(before?.rows) > 0)
  assert.equal(parseSeals(String(json['last_seal']))[0]?.chain, 'audit')
  await tamper(firm.service.database, `update audit set action = 'nothing' where id = (select min(id) from audit)`)
  const changed = await paula.send('POST', '/audit/verification')
  assert.equal(changed.status, 200)
  assert.equal(changed.json['ok'], false)
  assert.match(changed.text, /"faults":\["table audit, row 1, .*fault /)
  const recorded = await firm.service.database.rows(
    `select details ->> 'ok' as ok, person_id as person from audit where action = 'audit_verified' order by id`,
  )
  assert.deepEqual(recorded, [
    { ok: 'true', person: paula.id },
    { ok: 'false', person: paula.id },
  ])
})

test('a consultant may not, and that is recorded', async () => {
  const { status, json } = await anna.send('POST', '/audit/verification')
  assert.equal(status, 403)
  assert.equal(json['ok'], undefined)
  const denied = await firm.service.database.rows(
    `select from audit where action = 'access_denied' and noun = 'audit' and person_id = $1`,
    [anna.id],
  )
  assert.equal(denied.length, 1)
})
