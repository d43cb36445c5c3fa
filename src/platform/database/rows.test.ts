import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import pino from 'pino'
import { draws } from '../../../tests/support/draws.ts'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { columnText, rowsText } from './rows.ts'
import { openDatabase } from './database.ts'

const made = fixture(() => createTestDatabase({ empty: true }))
const database = fixture(() => openDatabase(made.url, { log: pino({ level: 'silent' }) }))
setUp(() => database.rows('create type sample as (word text, number bigint, amount numeric, other text)'))

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
