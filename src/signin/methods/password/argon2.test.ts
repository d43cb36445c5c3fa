import assert from 'node:assert/strict'
import { argon2Sync } from 'node:crypto'
import { describe, test } from 'node:test'
import { dummyHash, hashPassword, isOutdated, verifyHash } from './argon2.ts'

const minimum = { memory: 19_456, passes: 2 }
const seventyTwo = 'a'.repeat(72)

describe('a password hash', () => {
  test('B51: is an argon2id PHC string with m ≥ 19456, t ≥ 2 and p = 1', async () => {
    const phc = await hashPassword('correct horse battery staple', minimum)
    const [, salt = '', hash = ''] =
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$([A-Za-z0-9+/]{22})\$([A-Za-z0-9+/]{43})$/.exec(phc) ?? []
    // As any other implementation of RFC 9106 computes it.
    const computed = argon2Sync('argon2id', {
      message: 'correct horse battery staple',
      nonce: Buffer.from(salt, 'base64'),
      parallelism: 1,
      tagLength: 32,
      memory: 19_456,
      passes: 2,
    })
    assert.deepEqual(Buffer.from(hash, 'base64'), computed)
    assert.notEqual(phc, await hashPassword('correct horse battery staple', minimum), 'each has its own salt')
  })

  test('verifies its password and no other', async () => {
    const phc = await hashPassword('correct horse battery staple', minimum)
    assert.equal(await verifyHash('correct horse battery staple', phc, minimum), true)
    for (const wrong of [
      '',
      'correct horse battery stapl',
      'correct horse battery staple ',
      'Correct horse battery staple',
    ]) {
      assert.equal(await verifyHash(wrong, phc, minimum), false, wrong)
    }
    assert.equal(await verifyHash('anything', dummyHash(minimum), minimum), false)
  })

  for (const [name, password, other] of [
    ['after 72 bytes', `${seventyTwo}b`, `${seventyTwo}c`],
    ['after a NUL', 'before\0after', 'before\0other'],
    ['at a NUL', 'before\0', 'before'],
  ] as const) {
    test(`B49: is not cut off ${name}`, async () => {
      const phc = await hashPassword(password, minimum)
      assert.equal(await verifyHash(password, phc, minimum), true)
      assert.equal(await verifyHash(other, phc, minimum), false)
    })
  }

  test('B51: is outdated if the parameters were raised, and not if they were lowered', async () => {
    const phc = await hashPassword('password', { memory: 20_000, passes: 3 })
    for (const [settings, expected] of [
      [{ memory: 20_000, passes: 3 }, false],
      [minimum, false],
      [{ memory: 20_001, passes: 3 }, true],
      [{ memory: 20_000, passes: 4 }, true],
      [{ memory: 20_000, passes: 3, pepper: 'p' }, true],
    ] as const) {
      assert.equal(isOutdated(phc, settings), expected, JSON.stringify(settings))
      assert.equal(await verifyHash('password', phc, settings), true)
    }
  })

  test('B51: with a pepper verifies with that pepper alone', async () => {
    const peppered = { ...minimum, pepper: 'a secret' }
    const phc = await hashPassword('password', peppered)
    assert.ok(!phc.includes('secret'))
    assert.equal(await verifyHash('password', phc, peppered), true)
    assert.equal(await verifyHash('password', phc, { ...minimum, pepper: 'another' }), false)
    assert.equal(await verifyHash('password', phc, minimum), false)
    assert.equal(isOutdated(phc, peppered), false)
    assert.match(dummyHash(peppered), /^\$argon2id\$v=19\$m=19456,t=2,p=1,keyid=[A-Za-z0-9+/]{8}\$/)
  })

  test('that is damaged is an error, not a wrong password', async () => {
    await assert.rejects(verifyHash('password', '$argon2id$v=19$m=1', minimum), /not an argon2id hash/)
  })
})
