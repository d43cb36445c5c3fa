import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { fixture } from '../../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../../tests/support/own-database.ts'
import { asSuperuser } from '../../../../tests/support/superuser.ts'

const { database } = openOwnDatabase()
const [anna, ben] = [randomUUIDv7(), randomUUIDv7()]

/** A document of a client of a consultant, whose pages have these texts. Those that are added later have changed later. */
async function add(consultant: string, texts: readonly string[], archived = false): Promise<string> {
  const [client, id] = [randomUUIDv7(), randomUUIDv7()]
  await asSuperuser(database, async (tx) => {
    await tx.rows('set local session_replication_role = replica')
    await tx.rows('insert into client (id, name, consultant_id) values ($1, $2, $3)', [client, 'Client', consultant])
    await tx.rows(
      `insert into document (id, client_id, name, digest, type, bytes, archived_at)
       values ($1, $2, 'a.pdf', sha256('a'), 'application/pdf', 1, case when $3 then now() end)`,
      [id, client, archived],
    )
    await tx.rows(
      `insert into document_text (client_id, digest, page, label, text)
       select $1, sha256('a'), page, '', text from unnest($2::text[]) with ordinality t (text, page)`,
      [client, texts],
    )
  })
  return id
}

const find = (q: string, consultant: string | null = null, most = 20) =>
  asSuperuser(database, (tx) =>
    tx.rows<{ id: string; page: number }>('select document_id as id, page from matching_texts($1, $2::uuid, $3)', [
      q,
      consultant,
      most,
    ]),
  )

const documents = fixture(async () => ({
  close: async () => undefined,
  rare: await add(anna, ['nothing', 'the lease of the quagga', 'quagga']),
  old: await add(anna, ['the lease']),
  // So many pages that no other document would be among the first that an index finds.
  long: await add(
    ben,
    Array.from({ length: 2100 }, () => 'the lease'),
  ),
  recent: await add(ben, ['Nothing.', 'The LEASES']),
  archived: await add(anna, ['the lease'], true),
}))

test('each document is found once, by its first page, however many pages another one has', async () => {
  const { rare, old, long, recent } = documents
  assert.deepEqual(await find('lease'), [
    { id: recent, page: 2 },
    { id: long, page: 1 },
    { id: old, page: 1 },
    { id: rare, page: 2 },
  ])
  assert.deepEqual(await find('lease', null, 2), [
    { id: recent, page: 2 },
    { id: long, page: 1 },
  ])
  assert.deepEqual(await find('quagga lea'), [{ id: rare, page: 2 }])
  assert.deepEqual(await find('zebrafish'), [])
})

test("a consultant's documents are found among those of others, however common the word is there", async () => {
  const { rare, old } = documents
  assert.deepEqual(await find('lease', anna, 1), [{ id: old, page: 1 }])
  assert.deepEqual(await find('lease', anna), [
    { id: old, page: 1 },
    { id: rare, page: 2 },
  ])
  assert.deepEqual(await find('quagga', ben), [])
})
