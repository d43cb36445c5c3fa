import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { dictionary } from '@zxcvbn-ts/language-common'
import { createBlocklist } from './blocklist.ts'
import { createPasswordPolicy } from './policy.ts'

const blocklist = createBlocklist()
const { check } = createPasswordPolicy({
  blocklist,
  names: ['Tollgate', 'portal.example.com', 'Penhallow Advisory <office@penhallow.example>'],
})
const choose = (password: string, minimum = 15) => check({ password, minimum, email: 'ruth.miller@penhallow.example' })

async function refusal(password: string, minimum?: number): Promise<string> {
  return choose(password, minimum).then(
    () => assert.fail(`${JSON.stringify(password)} is accepted`),
    (error: unknown) => {
      assert.ok(error instanceof Error && 'code' in error && 'details' in error)
      assert.deepEqual([error.code, error.details], ['invalid_field', { field: 'password' }])
      return error.message
    },
  )
}

describe('B49: the length', () => {
  test('is at least 15 alone and 8 with a second factor', async () => {
    assert.match(await refusal('kx7 mv2 qp9 zt'), /at least 15 characters, and has 14/)
    assert.equal(await choose('kx7 mv2 qp9 zt4'), 'kx7 mv2 qp9 zt4')
    assert.match(await refusal('kx7mv2q', 8), /at least 8 characters, and has 7/)
    assert.equal(await choose('kx7mv2qp', 8), 'kx7mv2qp')
  })

  test('counts characters, not bytes or code units', async () => {
    assert.match(await refusal('🐢ü🦉é🐝o🦋ß🐙a🐬ñ🦔ø'), /has 14/)
    await choose('🐢ü🦉é🐝o🦋ß🐙a🐬ñ🦔ø🐡')
  })

  test('is at most 1024 bytes; 64 and more are fine', async () => {
    const long = createHash('shake256', { outputLength: 512 }).update('a long password').digest('hex')
    for (const length of [64, 72, 73, 128, 1024]) assert.equal(await choose(long.slice(-length)), long.slice(-length))
    assert.match(await refusal(`${long}x`), /at most 1024 bytes/)
    assert.match(await refusal('ü'.repeat(513)), /at most 1024 bytes/)
    assert.match(await refusal('x'.repeat(100_000)), /at most 1024 bytes/)
  })
})

describe('B49: the text', () => {
  test('is normalised to NFC, and otherwise left as it is', async () => {
    const decomposed = 'Mu\u0308nster kx mv qp zt'
    assert.equal(await choose(decomposed), 'M\u00fcnster kx mv qp zt')
    assert.equal(await choose('  kx7 mv2 qp9 zt4\0  '), '  kx7 mv2 qp9 zt4\0  ')
  })

  test('needs no kinds of characters', async () => {
    for (const password of ['blatant oyster wagon', 'BLATANT OYSTER WAGON', '8391 4820 7261 0938', 'ыщзцу фывап']) {
      assert.equal(await choose(password, 8), password)
    }
  })

  test('with a lone surrogate is refused: it would be hashed as another text', async () => {
    assert.match(await refusal('kx7 mv2 qp9 zt4 \ud800'), /valid text/)
  })
})

describe('B50: the list of common passwords', () => {
  test('has more than 10 000 entries, all of which are refused with the reason', async () => {
    const common = dictionary['passwords-common']
    assert.ok(common.length > 10_000, `${common.length} entries`)
    assert.deepEqual(new Set(await blocklist.find(common)), new Set(common))
    assert.match(await refusal('baseball1', 8), /one of the most common passwords/)
    assert.match(await refusal('PassWord', 8), /one of the most common passwords/)
    assert.match(await refusal('ｐａｓｓｗｏｒｄ', 8), /one of the most common passwords/)
  })

  test('does not refuse other texts', async () => {
    assert.deepEqual(await blocklist.find(['kx7mv2qp', 'blatant oyster', '']), [])
    for (const password of [
      'correct staple horse battery',
      'qwertz kx7mv2 1987',
      'strewn understudy 2024 blatant',
      'my password is hard',
      '8391 4820 pass 2219 3381',
      'tollgate-8391-4820-2219-3381',
      'ruthless gatekeeper of tolls',
      'penhallow clients enter quietly',
    ]) {
      await choose(password)
    }
  })

  for (const [password, reason] of [
    ['Password2026!!!!', /common word or password with a few more/],
    ['...sunshine...', /common word or password with a few more/],
    ['passwordpassword', /repeats a shorter text/],
    ['aaaaaaaaaaaaaaaa', /repeats a shorter text/],
    ['xq3xq3xq3xq3xq3xq3', /repeats a shorter text/],
    ['123456789012345', /follow one another|most common/],
    ['zyxwvutsrqponmlk', /follow one another/],
    ['tollgatetollgate1', /names of this service/],
    ['Tollgate 2026!', /names of this service/],
    ['Penhallow-Advisory', /names of this service, of the firm/],
    ['ruth.miller@penhallow.example', /your address/],
    ['Ruth Miller 1971!', /your address/],
    ['tollgate sunshine', /common word or password/],
    ['qwertyuiop asdfghjkl', /keyboard rows/],
    ['1qaz2wsx3edc4rfv', /keyboard rows|most common/],
    ['lkjhgfdsa 0987654321 !', /keyboard rows/],
    ['01.03.1987 01.03.1987', /dates/],
    ['1987-03-01/2019-11-30', /dates/],
    ['Correct Horse Battery Staple!', /well-known sentence/],
    ['To be, or not to be: that is the question.', /well-known sentence/],
    ['sunshine qwertyuiop 1999', /common word or password/],
  ] as const) {
    test(`refuses ${password}`, async () => {
      assert.match(await refusal(password, 14), reason)
    })
  }

  test('is loaded once for all who ask at the same time', async () => {
    const own = createBlocklist()
    assert.deepEqual(await Promise.all([own.find(['password']), own.find(['sunshine'])]), [['password'], ['sunshine']])
  })
})
