import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, it } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import type { Answer } from '../support/answer.ts'
import { openFirm } from '../support/firm.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { valuesOf } from '../support/json.ts'
import { ok } from '../support/answer.ts'

const vendor = fixture(() => startVendor())
const models = () => [upstreamModel(vendor.url)]
const { firm, paula } = openFirm(() => ({ models: models() }))
const other = fixture(() => startService({ models: models(), databaseUrl: firm.service.databaseUrl }))
let client: string
setUp(async () => void (client = await firm.client(paula)))

const user = { role: 'user', content: 'Hello' }
const bodies: Readonly<Record<string, object>> = {
  '/v1/generate': { model: 'fast', input: 'Hello', max_output_tokens: 10 },
  '/v1/chat/completions': { model: 'fast', messages: [user], max_tokens: 10 },
  '/v1/responses': { model: 'fast', input: 'Hello', max_output_tokens: 10 },
  '/v1/messages': { model: 'fast', messages: [user], max_tokens: 10 },
  '/v1/count_tokens': { model: 'fast', input: 'Hello', max_output_tokens: 10 },
}
const about = (address: string, clientId: string) => ({ ...bodies[address], metadata: { client_id: clientId } })

/** What a refusal says, in any dialect, without the id of its request. */
const said = ({ status, text }: Answer) => [status, text.replaceAll(/[0-9a-f-]{36}/g, 'ID')]
const reasonOf = ({ error }: Answer) => String(error['reason'] ?? error['message'])

describe('metadata.client_id', () => {
  for (const address of Object.keys(bodies)) {
    it(`A39 counts from the firm's own account: ${address}`, async () => {
      const { accountId, key } = await firm.service.customer({ own: true })
      ok(await firm.service.call(address, key, about(address, client)))
      const { rows } = await firm.service.books(accountId)
      const charged = address === '/v1/count_tokens' ? [] : [client]
      assert.deepEqual(valuesOf(rows, 'clientId'), charged)
    })

    it(`A39 is refused from another account, whether or not the client exists: ${address}`, async () => {
      const { accountId, key } = await firm.service.customer({ requestsPerMinute: 1 })
      const existing = await firm.service.call(address, key, about(address, client), { 'idempotency-key': 'a' })
      const invented = await firm.service.call(address, key, about(address, randomUUIDv7()))
      assert.equal(existing.status, 400)
      assert.match(reasonOf(existing), /metadata\.client_id .*marked as its own/)
      assert.deepEqual(said(existing), said(invented))
      const { rows, held } = await firm.service.books(accountId)
      assert.deepEqual([rows.length, held], [0, 0n])
      // Neither refusal took the one request of this minute, and the key is free.
      ok(await firm.service.call(address, key, bodies[address], { 'idempotency-key': 'a' }))
    })

    it(`A39 is refused for a client that does not exist, before anything is held: ${address}`, async () => {
      const { accountId, key } = await firm.service.customer({ own: true, requestsPerMinute: 1 })
      const answer = await firm.service.call(address, key, about(address, randomUUIDv7()))
      assert.equal(answer.status, 400)
      assert.match(reasonOf(answer), /No client has the id in the field metadata\.client_id/)
      assert.deepEqual((await firm.service.books(accountId)).rows, [])
      assert.equal((await firm.service.call(address, key, bodies[address])).status, 200)
    })
  }

  it('A39 names the field', async () => {
    const { key } = await firm.service.customer()
    const { error } = await firm.service.call('/v1/generate', key, about('/v1/generate', client))
    assert.deepEqual([error['code'], error['field']], ['invalid_field', 'metadata.client_id'])
  })

  it('A39 may name any client that is not deleted: of any consultant, and archived ones', async () => {
    const { key } = await firm.service.customer({ own: true })
    const ben = await firm.join('Ben', 'consultant')
    const archived = await firm.client(ben, 'Archived')
    await ben.send('PATCH', `/clients/${archived}`, { status: 'archived' }, { 'if-match': '"1"' })
    const deleted = await firm.client(ben, 'Deleted')
    assert.equal((await paula.send('DELETE', `/clients/${deleted}`)).status, 204)
    const ask = async (id: string) => (await firm.service.call('/v1/generate', key, about('/v1/generate', id))).status
    assert.deepEqual([await ask(archived), await ask(archived.toUpperCase()), await ask(deleted)], [200, 200, 400])
  })

  it('A39 follows a change of the account on every instance, and the change is in the audit log', async () => {
    const { accountId, key } = await firm.service.customer()
    const statuses = () =>
      Promise.all(
        [firm.service, other].map(
          async (each) => (await each.call('/v1/generate', key, about('/v1/generate', client))).status,
        ),
      )
    assert.deepEqual(await statuses(), [400, 400])
    await firm.service.accounts.setOwn(accountId, true, byService)
    await until(async () => (await statuses()).every((status) => status === 200))
    const { own } = await firm.service.accounts.setOwn(accountId, false, byService)
    assert.equal(own, false)
    await until(async () => (await statuses()).every((status) => status === 400))
    await firm.service.accounts.setOwn(accountId, false, byService)
    const events = await firm.service.database.rows(
      `select details from audit where action = 'account_own_changed' and noun_id = $1 order by id`,
      [accountId],
    )
    assert.deepEqual(events, [{ details: { own: 'false → true' } }, { details: { own: 'true → false' } }])
  })

  it('A39 a request that does not attribute its cost needs no client', async () => {
    for (const own of [true, false]) {
      const { key } = await firm.service.customer({ own })
      assert.equal((await firm.service.call('/v1/generate', key, bodies['/v1/generate'])).status, 200)
    }
  })
})
