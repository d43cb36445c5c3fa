import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { fixture } from '../../tests/support/fixture.ts'
import { ask, mostOfOne, openTills, used } from '../../tests/support/tills.ts'
import { foldCharges } from './appended-charges.ts'
import type { Payer } from './payer.ts'

const stage = fixture(() => openTills(1))

async function addPerson(): Promise<string> {
  const id = randomUUIDv7()
  await stage.database.rows(
    `insert into person (id, name, role, created_at) values ($1, 'Petra Partner', 'partner', now())`,
    [id],
  )
  return id
}

const spent = (table: 'ledger' | 'usage_day', { accountId }: Payer) =>
  stage.database.rows(
    `select key_id, person_id, client_id, sum(cost)::numeric as cost from ${table} where account_id = $1
     group by 1, 2, 3 order by 1, 2, 3`,
    [accountId],
  )

test('a person can spend on an account without a key, with holds and with allowances', async () => {
  const till = stage.nth(0)
  const byKey = await stage.addAccount({ credit: 10_000n * mostOfOne })
  const clientId = randomUUIDv7()
  const byPerson: Payer = { accountId: byKey.accountId, personId: await addPerson(), clientId }
  for (let round = 0; round < 8; round++) {
    for (const payer of [byKey, byPerson]) {
      const request = ask(payer, round === 0 ? { idempotency: { key: payer.personId ?? 'key', hash: 'a' } } : {})
      await till.admit(request)
      await till.settle(request.requestId, payer.accountId, used(20))
    }
  }
  const rows = [
    { key_id: byKey.keyId, person_id: null, client_id: null, cost: 8n * mostOfOne },
    { key_id: null, person_id: byPerson.personId, client_id: clientId, cost: 8n * mostOfOne },
  ]
  assert.deepEqual(await spent('ledger', byKey), rows)
  const early = await spent('usage_day', byKey)
  assert.deepEqual(early.at(-1), rows.at(-1), 'what people spend is in the sums at once')
  await foldCharges(stage.database)
  assert.deepEqual(await spent('usage_day', byKey), rows)
})

test('the database refuses a hold or charge with neither key nor person, or with both', async () => {
  const columns = 'id, account_id, instance_id, model, input_tokens, max_output_tokens, input_price, output_price, cost'
  for (const spender of ['null, null', 'gen_random_uuid(), gen_random_uuid()']) {
    await assert.rejects(
      stage.database.rows(
        `insert into hold (${columns}, created_at, key_id, person_id)
         select u, u, u, 'm', 1, 1, 1, 2, 3, now(), ${spender} from gen_random_uuid() u`,
      ),
      { code: '23514' },
    )
    await assert.rejects(
      stage.database.rows(
        `insert into ledger (at, request_id, account_id, model, input_tokens, output_tokens, input_price, output_price,
           cost, stop_reason, usage_source, key_id, person_id)
         select now(), u, u, 'm', 1, 1, 1, 2, 3, 'complete', 'model', ${spender} from gen_random_uuid() u`,
      ),
      { code: '23514' },
    )
  }
})
