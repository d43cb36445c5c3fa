import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passkeySiteOf } from './site.ts'

for (const [baseUrl, expected] of [
  ['https://tollgate.example.com', { origin: 'https://tollgate.example.com', rpId: 'tollgate.example.com' }],
  ['https://tollgate.example.com:8443', { origin: 'https://tollgate.example.com:8443', rpId: 'tollgate.example.com' }],
  ['http://localhost:8080', { origin: 'http://localhost:8080', rpId: 'localhost' }],
  ['http://tollgate.example.com', undefined],
  ['http://127.0.0.1:8080', undefined],
  ['https://192.0.2.1', undefined],
  ['https://[2001:db8::1]', undefined],
] as const) {
  test(`passkeys ${expected ? 'work' : 'do not work'} at ${baseUrl}`, () => {
    assert.deepEqual(passkeySiteOf(baseUrl), expected)
  })
}
