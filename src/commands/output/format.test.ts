import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firmOf } from '../../../tests/support/config.ts'
import { formatFor } from './format.ts'

const at = new Date('2026-03-12T23:05:59.999Z')

test('numbers and amounts are written as the locale has them, and no digit is lost', async () => {
  const british = await formatFor(firmOf({ currency: 'GBP' }))
  assert.equal(british.number(1_234_567), '1,234,567')
  assert.deepEqual([british.count(1, 'client'), british.count(1200, 'client')], ['1 client', '1,200 clients'])
  assert.equal(british.amount('123456789012345678.000000000001'), '123,456,789,012,345,678.000000000001')
  assert.equal(british.money('-1234.5'), '-1,234.50 GBP')
  assert.equal(british.decimal('1234.5'), '1,234.5')
  assert.equal((await formatFor(firmOf({ locale: 'de-DE' }))).amount('1234567.125'), '1.234.567,125')
  assert.equal((await formatFor(firmOf({ locale: 'en-IN' }))).number(1_234_567), '12,34,567')
  assert.equal((await formatFor(firmOf({ currency: 'JPY' }))).amount('1250'), '1,250')
  assert.equal((await formatFor(firmOf({ currency: 'KWD' }))).amount('1250'), '1,250.000')
})

test("times are in the firm's time zone, with the offset", async () => {
  const [utc, kolkata] = [await formatFor(firmOf({})), await formatFor(firmOf({ time_zone: 'Asia/Kolkata' }))]
  assert.deepEqual([utc.minute(at), utc.second(at)], ['2026-03-12 23:05Z', '2026-03-12 23:05:59Z'])
  assert.deepEqual([kolkata.minute(at), kolkata.second(at)], ['2026-03-13 04:35+05:30', '2026-03-13 04:35:59+05:30'])
  assert.equal(kolkata.minute(null), '-')
})
