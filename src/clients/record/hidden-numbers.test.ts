import assert from 'node:assert/strict'
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { test } from 'node:test'
import { hiddenNumbers } from './hidden-numbers.ts'

const [key, client] = [randomBytes(16), randomUUIDv7()]
const numbers = hiddenNumbers(key, client)

test('a hidden number is recovered on every instance and reveals nothing', () => {
  const hidden = [1n, 2n, 255n, 256n, 2n ** 62n].map((number) => numbers.hide(number))
  assert.equal(new Set(hidden).size, 5)
  for (const [index, number] of [1n, 2n, 255n, 256n, 2n ** 62n].entries()) {
    const text = hidden[index] ?? ''
    assert.match(text, /^[\w-]{22}$/)
    assert.equal(hiddenNumbers(key, client).find(text), number)
  }
  const shared = Array.from(hidden[0] ?? '').filter((letter, at) => letter === hidden[1]?.[at])
  assert.ok(shared.length < 10, 'consecutive numbers look alike')
})

test('other text and numbers of other clients are not accepted', () => {
  const text = numbers.hide(7n)
  assert.equal(hiddenNumbers(key, randomUUIDv7()).find(text), undefined)
  assert.equal(hiddenNumbers(randomBytes(16), client).find(text), undefined)
  for (const wrong of ['', '7', text.slice(1), `${text}A`, text.toLowerCase(), '='.repeat(22), 'A'.repeat(22)]) {
    if (wrong !== text) assert.equal(numbers.find(wrong), undefined, wrong)
  }
})
