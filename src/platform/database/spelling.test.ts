import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { spellingCases } from '../../../tests/support/spelling-cases.ts'
import { openDatabase } from './database.ts'
import { containsLongParts, containsParts } from './spelling-store.ts'

test('the database finds texts in every spelling as the pages do (B114)', async () => {
  const own = await createTestDatabase()
  const database = openDatabase(own.url, { log: createTestLog().log })
  try {
    const rows = await database.rows<{ place: number | null; part: boolean | null }>(
      `select case when to_tsvector('simple', words(text)) @@ whole_words(q) then 2
           when to_tsvector('simple', words(text)) @@ beginnings(q) then 3
           when ${containsLongParts('spelling(text)', 'q')} then 4 end as place,
         ${containsParts('spelling(text)', 'q')} as part
       from json_to_recordset($1) as each (text text, q text)`,
      [JSON.stringify(spellingCases.map(([texts, q]) => ({ text: texts.join(' '), q })))],
    )
    for (const [index, [texts, q, place]] of spellingCases.entries()) {
      const found = rows[index]?.place ?? undefined
      assert.equal(rows[index]?.part ?? false, place !== undefined, `${q} in ${texts.join(', ')}`)
      // References are compared as they are typed, in any case.
      if (place === 1) assert.notEqual(found, undefined, `${q} in ${texts.join(', ')}`)
      else assert.equal(found, place, `${q} in ${texts.join(', ')}`)
    }
  } finally {
    await database.close()
    await own.drop()
  }
})
