import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { fixture } from '../../tests/support/fixture.ts'
import { openTills } from '../../tests/support/tills.ts'
import { removeExpiredBatches } from './queue-store.ts'

const stage = fixture(() => openTills(1))

const names = async (query: string): Promise<string[]> =>
  (await stage.database.rows<{ name: string }>(query)).map(({ name }) => name)

test('files and results are removed when they expire, with all their lines, and others are kept', async () => {
  const { database } = stage
  const payer = await stage.addAccount({ credit: 1n })
  for (const [name, expires, uploaded, created] of [
    ['kept', '1 hour', '-1 hour', '-2 hours'],
    ['expired', '-1 second', '-1 hour', '-1 hour'],
    ['arriving', '1 hour', null, '-50 minutes'],
    ['abandoned', '1 hour', null, '-70 minutes'],
  ] as const) {
    const id = randomUUIDv7()
    await database.rows(
      `insert into batch_file (id, account_id, name, expires_at, uploaded_at, created_at)
       values ($1, $2, $3, now() + $4::interval, now() + $5::interval, now() + $6::interval)`,
      [id, payer.accountId, Buffer.from(name), expires, uploaded, created],
    )
    // More than one statement removes.
    await database.rows(
      `insert into batch_file_line (file_id, number, content) select $1, n, '' from generate_series(1, 1001) n`,
      [id],
    )
  }
  for (const [name, status, ended, results, created] of [
    ['open', 'in_progress', null, null, '-2 hours'],
    ['kept', 'completed', '-31 days', '1 hour', '-32 days'],
    ['expired', 'completed', '-1 day', '-1 second', '-2 days'],
    ['old', 'completed', '-31 days', '-1 second', '-32 days'],
    ['refused', 'failed', '-29 days', null, '-29 days'],
    ['arriving', 'arriving', null, null, '-50 minutes'],
    ['abandoned', 'arriving', null, null, '-70 minutes'],
  ] as const) {
    const id = randomUUIDv7()
    await database.rows(
      `insert into batch (id, account_id, key_id, dialect, endpoint, metadata, status, expires_at, kept, ended_at, results_until, created_at, output_id)
       values ($1, $2, $3, 'openai', '/v1/responses', $4, $5, now(), '1 day', now() + $6::interval, now() + $7::interval, now() + $8::interval,
         case when $7 is not null then $1::uuid end)`,
      [id, payer.accountId, payer.keyId, Buffer.from(name), status, ended, results, created],
    )
    if (name !== 'refused')
      await database.rows(
        `insert into batch_line (batch_id, number, content) select $1, n, '' from generate_series(1, 1001) n`,
        [id],
      )
  }

  await removeExpiredBatches(database)

  assert.deepEqual(await names(`select convert_from(name, 'utf8') as name from batch_file order by 1`), [
    'arriving',
    'kept',
  ])
  assert.deepEqual(
    await names(
      `select convert_from(name, 'utf8') || ' ' || count(*) as name from batch_file f join batch_file_line on file_id = f.id group by name order by 1`,
    ),
    ['arriving 1001', 'kept 1001'],
  )
  assert.deepEqual(
    await names(
      `select concat_ws(' ', convert_from(metadata, 'utf8'), (select count(*) from batch_line where batch_id = b.id), case when output_id is not null then 'output' end) as name
       from batch b order by 1`,
    ),
    ['arriving 1001', 'expired 0', 'kept 1001 output', 'open 1001', 'refused 0'],
  )
})
