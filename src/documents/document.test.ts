import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paperOf } from './document.ts'

test('a letter is on the paper of the country in the locale, or of the most likely country of its language', () => {
  const locales = ['en-US', 'es-MX', 'fr-CA', 'en', 'en-GB', 'de-DE', 'de', 'fr-FR', 'es-ES']
  assert.deepEqual(locales.map(paperOf), ['Letter', 'Letter', 'Letter', 'Letter', 'A4', 'A4', 'A4', 'A4', 'A4'])
})
