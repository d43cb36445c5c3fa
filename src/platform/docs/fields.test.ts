import assert from 'node:assert/strict'
import { test } from 'node:test'
import { typeOf } from './fields.ts'

test('the values of a field are shown as they are, also those that are no texts', () => {
  assert.equal(typeOf({ enum: ['none', false, null, 1] }), '`none`, `false`, `null`, `1`')
  assert.equal(typeOf({ const: false }), '`false`')
})
