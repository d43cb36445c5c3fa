import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import pino from 'pino'
import { draws } from '../../../tests/support/draws.ts'
import { createTestDatabase, type TestDatabase } from '../../../tests/support/database.ts'
import { columnText, rowsText } from './rows.ts'
import { openDatabase, type Database } from './database.ts'

let database: Database
let made: TestDatabase

before(async () => {
  made = await createTestDatabase({ empty: true })
  database = openDatabase(made.url, { log: pino({ level: 'silent' }) })
  await database.rows('create type sample as (word text, number bigint, amount numeric, other text)')
})

after(async () => {
  await database.close()
  await made.drop()
})

// PostgreSQL text contains neither NUL nor lone surrogates.
const word = fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\0', '').toWellFormed())
const nasty = fc.constantFrom('', ' ', 'null', 'NULL', '"', '\\', '\\"', ',', ')', '("x",1)', '{}', '\n\t', "';--")
const text = fc.option(fc.oneof(word, nasty), { nil: undefined })
const sample = fc.tuple(text, fc.maxSafeInteger(), fc.bigInt({ min: -(10n ** 37n), max: 10n ** 37n }), text)

test('rows of any values round-trip in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sample, { maxLength: 6 }), async (samples) => {
      const rows = await database.rows<{ word: string; number: bigint; amount: bigint; other: string }>(
        'select word, number, amount, other from unnest($1::sample[]) with ordinality s order by ordinality',
        [
          rowsText(
            samples.map(
              ([first, number, amount, other]) => `(${columnText(first)},${number},${amount},${columnText(other)})`,
            ),
          ),
        ],
      )
      assert.deepEqual(
        rows.map(({ word: first, number, amount, other }) => [first, number, amount, other]),
        samples.map(([first, number, amount, other]) => [first ?? null, BigInt(number), amount, other ?? null]),
      )
    }),
    draws({ test: 100, endure: 1000 }),
  )
})
