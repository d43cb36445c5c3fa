import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { verifyAll } from '../../src/commands/verification.ts'
import { openDatabase } from '../../src/platform/database/database.ts'
import { startSealing } from '../../src/platform/seals/sealing.ts'
import { isEndure } from '../support/draws.ts'
import { fixture } from '../support/fixture.ts'
import { ask, log, openTills, reapWhere, used, type Tills } from '../support/tills.ts'

const stage = fixture(() => openTills(3))
/** Without a time limit, as commands open it. */
const database = fixture(() => openDatabase(stage.url, { log, connections: 2, statementTimeout: 0 }))

/** Admits and charges requests, one after the other, until it is time to stop. */
async function charge(
  till: Tills['tills'][number],
  payer: Awaited<ReturnType<Tills['addAccount']>>,
  isOver: () => boolean,
): Promise<number> {
  let count = 0
  for (; !isOver(); count += 1) {
    const request = ask(payer)
    await till.admit(request)
    if (count % 5 === 4) await till.release(request.requestId, payer.accountId)
    else await till.settle(request.requestId, payer.accountId, used(count % 20))
  }
  return count
}

test('A35 verify finds nothing while three instances charge and three sealers seal, one of which dies', async () => {
  const payers = await Promise.all([1, 2, 3, 4].map(() => stage.addAccount({ credit: 10n ** 15n })))
  let over = false
  const charging = payers.flatMap((payer, index) => [0, 1].map((n) => charge(stage.nth(index + n), payer, () => over)))
  const sealers = [1, 2, 3].map(() => startSealing({ database: stage.database, log, pause: 5 }))
  try {
    // An instance that died with a hold, which is released only when the lease expires.
    await stage.database.rows(
      `insert into instance (id, host, seen_at) values ('00000000-0000-0000-0000-000000000001', 'dead', now() - interval '15 seconds')`,
    )
    await stage.database.rows(
      `with h as (insert into hold (id, account_id, key_id, instance_id, model, input_tokens, max_output_tokens, input_price, output_price, cost, created_at)
         values (gen_random_uuid(), $1, $2, '00000000-0000-0000-0000-000000000001', 'm', 1, 1, 1, 2, 3, now() - interval '20 seconds') returning cost)
       update account set held = held + h.cost from h where account.id = $1`,
      [payers[0]?.accountId, payers[0]?.keyId],
    )
    for (let round = 0; round < (isEndure ? 8 : 2); round += 1) {
      const checks = await verifyAll(database, { full: round % 2 === 0 })
      assert.deepEqual(
        checks.filter(({ ok }) => !ok),
        [],
        `round ${round}`,
      )
      await sleep(20)
    }
  } finally {
    over = true
  }
  const counts = await Promise.all(charging)
  await Promise.all(sealers.map((sealer) => sealer.close()))
  // By then another instance may have released it.
  await reapWhere(stage.database, `host = 'dead'`)
  const [sealed] = await stage.database.rows<{ seals: bigint; rows: bigint }>(
    `select count(*) as seals, sum(rows)::bigint as rows from seal where chain = 'ledger'`,
  )
  assert.ok(counts.every((count) => count > 0) && (sealed?.seals ?? 0n) > 3n, `${counts.join()} ${sealed?.seals}`)
})
