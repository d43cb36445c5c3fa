import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkSignInSettings } from './settings-rule.ts'

function faultsOf(policy: string, ...providers: object[]): string[] {
  const faults: string[] = []
  const settings = { sign_in: { providers, sign_up: { policy } } }
  checkSignInSettings(settings, (path, message) => faults.push(`${path} ${message}`))
  return faults
}

test('mailed links and passwords need a mail server', () => {
  const faults: string[] = []
  const settings = { sign_in: { email_link: true, password: true } }
  checkSignInSettings({ ...settings, mail: {} }, (path) => faults.push(path))
  assert.equal(faults.join(), '')
  checkSignInSettings(settings, (path, message) => faults.push(`${path}: ${message}`))
  assert.deepEqual(faults, [
    'sign_in.email_link: a sign-in link needs a mail server. Set mail, or set this to false.',
    'sign_in.password: passwords are chosen with a mailed link. Set mail, or set this to false.',
  ])
})

test('a provider has a name of its own', () => {
  assert.deepEqual(faultsOf('invited', { id: 'firm' }, { id: 'passwords' }), [])
  for (const id of ['password', 'email_link', 'passkey']) {
    assert.deepEqual(faultsOf('invited', { id: 'firm' }, { id }), [
      `sign_in.providers[1].id must be another name: ${id} is a sign-in method of its own`,
    ])
  }
})

test('a domain can be checked only if the address is trusted', () => {
  const provider = { id: 'firm', trust_email: 'never' }
  for (const policy of ['anyone', 'invited']) assert.deepEqual(faultsOf(policy, provider), [])
  assert.deepEqual(faultsOf('domain', { ...provider, trust_email: 'when_verified' }), [])
  const [fault, ...others] = faultsOf('domain', provider)
  assert.match(String(fault), /^sign_in\.providers\[0\]\.trust_email cannot be never with the policy domain/)
  assert.deepEqual(others, [])
})
