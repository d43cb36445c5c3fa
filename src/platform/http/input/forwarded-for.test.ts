import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainForwardedFor } from './headers.ts'

test('every entry becomes a plain address, up to the first that is none', () => {
  const cases: [string, string | undefined][] = [
    ['192.0.2.7', '192.0.2.7'],
    ['192.0.2.7:4711', '192.0.2.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['198.51.100.1, 192.0.2.7:1,10.0.0.2', '198.51.100.1, 192.0.2.7, 10.0.0.2'],
    ['198.51.100.1, unknown, 192.0.2.7', '192.0.2.7'],
    ['198.51.100.1, , 192.0.2.7', '192.0.2.7'],
    ['unknown', undefined],
    ['', undefined],
    ['192.0.2.7:', undefined],
    ['192.0.2.700:1', undefined],
    ['a"b<script>', undefined],
    ['1'.repeat(3000), undefined],
  ]
  for (const [header, plain] of cases) assert.equal(plainForwardedFor(header), plain, header)
})
