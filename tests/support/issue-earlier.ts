import assert from 'node:assert/strict'
import type { Database } from '../../src/platform/database/database.ts'

const seller = {
  name: 'Berg & Partner',
  address: [],
  email: null,
  phone: null,
  website: null,
  tax_number: null,
  bank: null,
}

/** Issues a draft to an account as if some days ago, in the series `OLD-{number}`. It was due on the same day. */
export async function issueEarlier(database: Database, id: string, days: number): Promise<void> {
  const day = Temporal.Now.plainDateISO('UTC').subtract({ days }).toString()
  await database.transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.actor', 'service', true)`)
    const [done] = await tx.rows(`select issue_invoice($1, 1, 'OLD-{number}', 1, $2, $2, $3, null, null) as outcome`, [
      id,
      day,
      JSON.stringify(seller),
    ])
    assert.deepEqual(done, { outcome: 'issued' })
  })
}
