import assert from 'node:assert/strict'
import { test } from 'node:test'
import { javascriptText, jsonText, pythonArguments, pythonText } from './literals.ts'

const value = { a: [1, 'x'], 'b-c': { d: null, e: true, f: false }, empty: {}, quote: "it's" }

test('JSON is written in one line if it is short, else one part on each line', () => {
  assert.equal(jsonText({ a: [1, 'x'] }), '{"a": [1, "x"]}')
  const long = { text: 'x'.repeat(40), more: ['y'.repeat(40), { z: 1 }] }
  assert.equal(jsonText(long), `{\n  "text": "${'x'.repeat(40)}",\n  "more": ["${'y'.repeat(40)}", {"z": 1}]\n}`)
  assert.deepEqual(JSON.parse(jsonText(value)), value)
})

test('JavaScript has bare names and single quotes where it can', () => {
  assert.equal(
    javascriptText(value),
    `{\n  a: [1, 'x'],\n  'b-c': { d: null, e: true, f: false },\n  empty: {},\n  quote: "it's",\n}`,
  )
})

test('Python has its own words and indentation', () => {
  assert.equal(pythonText({ d: null, e: true, f: false }), '{"d": None, "e": True, "f": False}')
  assert.equal(pythonArguments({ model: 'm', stop: ['a'] }, '    '), '    model="m",\n    stop=["a"],\n')
})
