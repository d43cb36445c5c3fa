import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { safeReturn } from './return-to.ts'

describe('B19: where a sign-in leads', () => {
  const own = [
    '/',
    '/clients',
    '/clients/0199d2f4?tab=notes&q=a%20b#top',
    '/clients?q=%C3%A9',
    '/people',
    '/search?q=a%0Ab%5Cc',
  ]
  for (const path of own) test(`${path} is ours`, () => assert.equal(safeReturn(path), path))

  const foreign = [
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\/evil.example',
    '\\\\evil.example',
    'https:evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/%09/evil.example',
    '/%0a/evil.example',
    '/%0D%0ASet-Cookie:a=b',
    '/%5cevil.example',
    '/.//evil.example',
    '/x/..//evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/a\r\nSet-Cookie: a=b',
    '/\0',
    ' /clients',
    '/cl ients',
    '/é',
    'clients',
    '?a',
    '',
    'https://tollgate.test//evil.example',
    `/${'a'.repeat(3000)}`,
    '/signin',
    '/signin?return_to=/signin',
    '/auth/start/firm',
    '/x/../auth/callback',
    '/%61uth/start/firm?link=1',
    '/si%67nin',
    '/a%ff',
    '/signout',
  ]
  for (const asked of foreign)
    test(`${JSON.stringify(asked).slice(0, 60)} leads home`, () => assert.equal(safeReturn(asked), '/'))

  for (const asked of [undefined, null, ['/clients', '/people'], 1, {}]) {
    test(`${JSON.stringify(asked)} leads home`, () => assert.equal(safeReturn(asked), '/'))
  }
})
