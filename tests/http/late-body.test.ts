import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startFirm, type Member } from '../support/firm.ts'
import { fixture } from '../support/fixture.ts'
import { tamper } from '../support/tamper.ts'
import { until } from '../support/until.ts'
import { openWire } from '../support/wire.ts'

// The body of a change may take a minute to arrive. Holding it back must not extend the rights of a session.

const firm = fixture(() => startFirm())

/** Sends a change except for the end of its body, runs `meanwhile`, then sends the rest. */
async function heldBack(
  { cookie }: Member,
  { method, address, body, headers = '' }: { method: string; address: string; body: object; headers?: string },
  meanwhile: () => Promise<unknown>,
) {
  const text = JSON.stringify(body)
  const wire = await openWire(firm.service.port)
  wire.send(
    `${method} ${address} HTTP/1.1\r\nhost: localhost\r\ncookie: ${cookie}\r\nsec-fetch-site: same-origin\r\n` +
      `content-type: application/json\r\ncontent-length: ${text.length}\r\n${headers}\r\n${text.slice(0, 1)}`,
  )
  await until(() => firm.service.app.requestsInFlight() > 0)
  await sleep(100)
  await meanwhile()
  wire.send(text.slice(1))
  const answer = await wire.answer()
  wire.cut()
  return answer
}

test('a partner who is demoted and disabled meanwhile cannot reactivate themselves', async () => {
  const [ruth, mei] = [await firm.join('Ruth', 'partner'), await firm.join('Mei', 'partner')]
  const back = { role: 'partner', status: 'active' }
  const answer = await heldBack(mei, { method: 'PATCH', address: `/people/${mei.id}`, body: back }, async () => {
    const away = await ruth.send('PATCH', `/people/${mei.id}`, { role: 'consultant', status: 'disabled' })
    assert.equal(away.status, 200, away.text)
  })
  assert.equal(answer.status, 401, answer.body)
  const { role, status } = await firm.service.people.show(mei.id)
  assert.deepEqual([role, status], ['consultant', 'disabled'])
})

test('a person who signs out meanwhile changes no record', async () => {
  const daniel = await firm.join('Daniel', 'consultant')
  const id = await firm.client(daniel, 'Untouched')
  const change = { method: 'PATCH', address: `/clients/${id}`, body: { name: 'Changed' }, headers: 'if-match: *\r\n' }
  const answer = await heldBack(daniel, change, () => daniel.send('POST', '/signout'))
  assert.equal(answer.status, 401, answer.body)
  const partner = await firm.join('Partner', 'partner')
  assert.equal((await partner.get(`/clients/${id}`)).json['name'], 'Untouched')
})

test('a slow body is accepted', async () => {
  const daniel = await firm.join('Daniel', 'consultant')
  const id = await firm.client(daniel, 'Before')
  const change = { method: 'PATCH', address: `/clients/${id}`, body: { name: 'After' }, headers: 'if-match: *\r\n' }
  assert.equal((await heldBack(daniel, change, async () => undefined)).status, 200)
})

test('a fault before the body has arrived is not blamed on the body', async () => {
  const daniel = await firm.join('Daniel', 'consultant')
  const id = await firm.client(daniel, 'Whole')
  const text = JSON.stringify({ name: 'Changed' })
  await tamper(firm.service.database, 'alter table session rename column hash to away')
  const wire = await openWire(firm.service.port)
  wire.send(
    `PATCH /clients/${id} HTTP/1.1\r\nhost: localhost\r\ncookie: ${daniel.cookie}\r\nsec-fetch-site: same-origin\r\n` +
      `content-type: application/json\r\ncontent-length: ${text.length}\r\nif-match: *\r\n\r\n${text.slice(0, 1)}`,
  )
  const answer = await wire.answer()
  wire.cut()
  await tamper(firm.service.database, 'alter table session rename column away to hash')
  assert.equal(answer.status, 500, answer.body)
  assert.match(answer.body, /"internal"/)
  assert.match(firm.service.logText(), /"code":"42703"/, 'the log has the cause')
})
