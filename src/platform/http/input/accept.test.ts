import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { prefersPage } from './headers.ts'

describe('a page is preferred', () => {
  const browsers = [
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'text/html',
    'TEXT/HTML ; charset=utf-8',
    'text/html, */*',
    'text/*',
    'text/*, application/json;q=0.9',
    'application/json;q=0.5, text/html;q=0.6',
    'application/json;q=0, text/html;q=0.1',
    'application/*, text/html',
  ]
  for (const accept of browsers) test(accept, () => assert.equal(prefersPage(accept), true))
})

describe('JSON is preferred', () => {
  const others = [
    undefined,
    '',
    '*/*',
    'application/json',
    'application/json, text/html',
    'application/json, text/plain, */*',
    'text/html;q=0.8, application/json;q=0.9',
    'text/html;q=0, */*',
    'text/html;q=nonsense',
    'image/png',
    'application/xhtml+xml',
    ',;,;q=1,/',
    '*/*, text/*;q=0.2',
  ]
  for (const accept of others) test(String(accept), () => assert.equal(prefersPage(accept), false))
})
