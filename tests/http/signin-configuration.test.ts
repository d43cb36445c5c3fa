import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startPortal } from '../support/portal.ts'

describe('the start', () => {
  const cases: [object, RegExp][] = [
    [
      { email_link: true },
      /^sign_in\.email_link: a sign-in link needs a mail server\. Set mail, or set this to false\.$/,
    ],
    [
      { password: true },
      /^sign_in\.password: passwords are chosen with a mailed link\. Set mail, or set this to false\.$/,
    ],
    [{ email_link: true, password: true }, /^sign_in\.email_link: [^\n]+\nsign_in\.password: [^\n]+$/],
  ]
  for (const [signIn, message] of cases) {
    test(`refuses ${JSON.stringify(signIn)}`, async () => {
      const started = startPortal({ signIn }).then((portal) => portal.close())
      await assert.rejects(started, { name: 'OperatorError', message })
    })
  }

  for (const signIn of [{ second_factor: 'off' }, { second_factor: 'optional' }, { passkey: false }]) {
    test(`accepts ${JSON.stringify(signIn)}`, async () => {
      await using portal = await startPortal({ signIn })
      portal.newcomer()
      assert.equal((await portal.profile().signIn('firm')).status, 303)
    })
  }
})
