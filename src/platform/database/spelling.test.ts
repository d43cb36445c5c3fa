import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { draws } from '../../../tests/support/draws.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { spellingCases } from '../../../tests/support/spelling-cases.ts'
import { openDatabase } from './database.ts'
import { containsLongParts, containsParts, hasOneSpelling, mayContain } from './spelling-store.ts'

test('the database finds texts in every spelling as the pages do (B114)', async () => {
  const own = await createTestDatabase()
  const database = openDatabase(own.url, { log: createTestLog().log })
  try {
    const rows = await database.rows<{
      place: number | null
      part: boolean | null
      maybe: boolean | null
      plain: boolean
    }>(
      `select case when to_tsvector('simple', words(text)) @@ whole_words(q) then 2
           when to_tsvector('simple', words(text)) @@ beginnings(q) then 3
           when ${containsLongParts('spelling(text)', 'q')} then 4 end as place,
         ${containsParts('spelling(text)', 'q')} as part,
         ${mayContain('spelling(text)', 'q')} as maybe, ${hasOneSpelling('q')} as plain
       from json_to_recordset($1) as each (text text, q text)`,
      [JSON.stringify(spellingCases.map(([texts, q]) => ({ text: texts.join(' '), q })))],
    )
    for (const [index, [texts, q, place]] of spellingCases.entries()) {
      const found = rows[index]?.place ?? undefined
      assert.equal(rows[index]?.part ?? false, place !== undefined, `${q} in ${texts.join(', ')}`)
      assert.ok(found === undefined || rows[index]?.maybe, `${q} may be in ${texts.join(', ')}`)
      if (rows[index]?.plain)
        assert.equal(rows[index].maybe ?? false, found !== undefined, `plain ${q} in ${texts.join(', ')}`)
      // References are compared as they are typed, in any case.
      if (place === 1) assert.notEqual(found, undefined, `${q} in ${texts.join(', ')}`)
      else assert.equal(found, place, `${q} in ${texts.join(', ')}`)
    }
  } finally {
    await database.close()
    await own.drop()
  }
})

test('texts that a search finds pass what is compared first (B114)', async () => {
  const own = await createTestDatabase()
  const database = openDatabase(own.url, { log: createTestLog().log })
  const letters = fc.constantFrom(...'aeousthldoi nxbc19-ßøæþłäå'.split(''))
  const texts = fc.array(letters, { minLength: 1, maxLength: 9 }).map((each) => each.join(''))
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(texts, texts, texts), { minLength: 200, maxLength: 200 }), async (cases) => {
        const wrong = await database.rows(
          `select * from (
            select text, q, ${mayContain('spelling(text)', 'q')} as maybe, ${hasOneSpelling('q')} as plain, part_patterns(q) as patterns,
              coalesce(to_tsvector('simple', words(text)) @@ beginnings(q) or ${containsLongParts('spelling(text)', 'q')}, false) as found
            from (select case n % 5 when 0 then replace(replace(replace(text, 'th', 'þ'), 'ss', 'ß'), 'oe', 'ø') else text end as text, q
              from (select n, middle || case n % 2 when 0 then start || ending else start || ' ' || ending end as text,
                case n % 3 when 0 then start when 1 then left(start, 1) || ' ' || ending else start || ending end as q
              from json_to_recordset($1) as each (n integer, start text, middle text, ending text)) plain) texts
          ) compared where found and maybe is not true or plain and maybe and not found`,
          [JSON.stringify(cases.map(([start, middle, ending], n) => ({ n, start, middle, ending })))],
        )
        assert.deepEqual(wrong, [])
      }),
      { ...draws({ test: 5, endure: 100 }), endOnFailure: true },
    )
  } finally {
    await database.close()
    await own.drop()
  }
})
