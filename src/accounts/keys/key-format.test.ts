import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { parseKey } from './key-format.ts'
import { createKey } from './new-key.ts'

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

test('a key has the documented form and can be parsed', () => {
  const { key, publicId, secretHash } = createKey()
  assert.match(key, /^tg_[0-9A-Za-z]{12}_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/)
  const parsed = parseKey(key)
  assert.ok(parsed)
  assert.equal(parsed.publicId, publicId)
  assert.deepEqual(createHash('sha256').update(parsed.secret).digest(), secretHash)
})

test('the checksum is the CRC-32 of everything before it, in base62', () => {
  // CRC-32 of "tg_AAAAAAAAAAAA_" and 43 zeros, computed bit by bit here, not by the library that creates keys.
  const body = `tg_AAAAAAAAAAAA_${'0'.repeat(43)}`
  let crc = 0xffffffff
  for (const byte of Buffer.from(body)) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  let rest = ~crc >>> 0
  let checksum = ''
  for (let place = 0; place < 6; place += 1) {
    checksum = (base62[rest % 62] ?? '') + checksum
    rest = Math.floor(rest / 62)
  }
  assert.ok(parseKey(`${body}_${checksum}`))
})

test('no two keys share a part', () => {
  const keys = Array.from({ length: 1000 }, createKey)
  assert.equal(new Set(keys.map(({ publicId }) => publicId)).size, 1000)
  assert.equal(new Set(keys.map(({ secretHash }) => secretHash.toString('hex'))).size, 1000)
})

test('one changed character is always caught', () => {
  const anywhere = fc.tuple(fc.nat(65), fc.constantFrom(...`${base62}_ -é`.split('')))
  fc.assert(
    fc.property(fc.constant(0).map(createKey), anywhere, ({ key }, [place, character]) => {
      fc.pre(key[place] !== character)
      assert.equal(parseKey(key.slice(0, place) + character + key.slice(place + 1)), undefined)
    }),
    draws({ test: 100, endure: 10000 }),
  )
})

test('two swapped neighbours are always caught', () => {
  fc.assert(
    fc.property(fc.constant(0).map(createKey), fc.nat(64), ({ key }, place) => {
      const [one = '', two = ''] = key.slice(place, place + 2)
      fc.pre(one !== two)
      assert.equal(parseKey(key.slice(0, place) + two + one + key.slice(place + 2)), undefined)
    }),
    draws({ test: 100, endure: 4000 }),
  )
})

test('other text is not a key, whatever its length', () => {
  const { key } = createKey()
  for (const text of [
    '',
    'tg_',
    key.slice(0, -1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    key.toUpperCase(),
    'x'.repeat(66),
  ]) {
    assert.equal(parseKey(text), undefined, JSON.stringify(text))
  }
})
