import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEncryption } from '../platform/encryption/encryption.ts'
import { compose } from './catalogue.ts'
import { renderMail } from './render.ts'
import { sealMail, unsealMail } from './queue.ts'

const encryption = createEncryption(Buffer.alloc(32, 7))
const values = { token: 'token', name: `<b>Anna</b> & "Co"`, by: `O'Hara` }
const mail = { to: 'anna@firm.example', template: 'invitation', values } as const

test('a stored mail is read with its own id alone', () => {
  const sealed = sealMail(encryption, 'one', mail)
  assert.deepEqual(unsealMail(encryption, { id: 'one', sealed }), mail)
  assert.equal(unsealMail(encryption, { id: 'other', sealed }), undefined)
})

test('names are text in a mail, never HTML', () => {
  const { text, html } = renderMail(compose(mail), { baseUrl: 'https://tollgate.test', name: 'Tollgate' })
  assert.ok(text.includes(values.name) && text.includes(values.by))
  assert.ok(html.includes('Hello &lt;b&gt;Anna&lt;/b&gt; &amp; &quot;Co&quot;,'), html)
  assert.ok(html.includes('O&#39;Hara'), html)
})
