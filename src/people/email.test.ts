import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readEmail } from './email.ts'

const keyOf = (text: string) => readEmail(text)?.key

describe('B48: an email address', () => {
  test('is stored as written and compared in lower case', () => {
    assert.deepEqual(readEmail('  Anna.Berg+X@Firm.EXAMPLE\n'), {
      address: 'Anna.Berg+X@Firm.EXAMPLE',
      key: 'anna.berg+x@firm.example',
      domain: 'firm.example',
    })
  })

  test('has its domain as an A-label, however it was written', () => {
    assert.equal(keyOf('a@Bücher.example'), 'a@xn--bcher-kva.example')
    assert.equal(keyOf('a@xn--bcher-kva.example'), 'a@xn--bcher-kva.example')
    assert.equal(keyOf('a@bu\u0308cher.example'), 'a@xn--bcher-kva.example')
  })

  test('is the same in every normalisation form', () => {
    assert.equal(keyOf('zoe\u0308@firm.example'), keyOf('zo\u00EB@firm.example'))
  })

  test('with lookalike letters is a different address', () => {
    const keys = ['info@firm.example', 'ınfo@firm.example', 'İnfo@firm.example', 'іnfo@firm.example'].map(keyOf)
    assert.equal(new Set(keys).size, 4)
    assert.ok(!keys.includes(undefined))
    assert.notEqual(keyOf('a@firm.example'), keyOf('a@fіrm.example'))
  })

  const none = [
    '',
    'a',
    'a@',
    '@firm.example',
    'a@b@firm.example',
    '"a b"@firm.example',
    '"a@b"@firm.example',
    'a b@firm.example',
    'a@firm .example',
    'a@firm',
    'a@firm.example.',
    'a@.firm.example',
    'a@firm..example',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'a@firm.example/x',
    'a@firm.example:25',
    'a@user:b@firm.example',
    'a@firm.example?x',
    'a@firm%2eexample',
    '.a@firm.example',
    'a.@firm.example',
    'a..b@firm.example',
    'a\0@firm.example',
    'a\u200B@firm.example',
    'a@firm.example\0',
    'a\uD800@firm.example',
    'a,b@firm.example',
    'A <a@firm.example>',
    `${'a'.repeat(250)}@firm.example`,
    // Normalised to ASCII: the two addresses may have different owners.
    '\u212Aate@firm.example',
    'a@ｆirm.example',
    'a@ﬁrm.example',
    'a@firm。example',
    'a@fi\u00ADrm.example',
    'a@firm\u200B.example',
  ]
  for (const text of none)
    test(`is not ${JSON.stringify(text).slice(0, 60)}`, () => assert.equal(readEmail(text), undefined))

  test('with full-width characters before the @ is a different address', () => {
    assert.notEqual(keyOf('ａ@firm.example'), keyOf('a@firm.example'))
  })
})
