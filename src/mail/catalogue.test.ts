import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compose } from './catalogue.ts'

test('a sign-in link is in the fragment, and its code is in the same mail', () => {
  const mail = compose({
    template: 'sign_in_link',
    values: { token: 'abc', code: '7K2M-9QXT', device: 'Firefox on Linux' },
  })
  assert.equal(mail.subject, 'Your sign-in link')
  assert.equal(mail.button?.path, '/signin/link#abc')
  assert.equal(mail.code?.value, '7K2M-9QXT')
})

test('a mail about a recovery code says how many are left', () => {
  for (const [remaining, said] of [
    [9, '9 codes are left.'],
    [1, 'One code is left. Create new ones.'],
    [0, 'No code is left. Create new ones.'],
  ] as const) {
    const { paragraphs } = compose({ template: 'account_changed', values: { what: 'recovery_code_used', remaining } })
    assert.equal(paragraphs[1], said)
  }
})

test('a mail about an account says what was used, and a test says that it is one', () => {
  const values = { account: 'Acme', accountId: 'abc', share: 80, used: '8', of: '10', currency: 'EUR' }
  const mail = compose({ template: 'account_share', values })
  assert.equal(mail.subject, 'Acme has used 80 %')
  assert.equal(mail.paragraphs[0], 'The account Acme has used 8 of 10 EUR, at least 80 %.')
  assert.equal(mail.button?.path, '/accounts/abc')
  const ofBudget = compose({ template: 'account_share', values: { ...values, budget: 'Team' } })
  assert.equal(ofBudget.subject, 'The budget Team of Acme has used 80 %')
  assert.deepEqual(ofBudget.paragraphs, ['The budget Team of the account Acme has used 8 of 10 EUR, at least 80 %.'])
  assert.equal(ofBudget.button?.path, '/accounts/abc/budgets')
  const sample = compose({ template: 'account_share', values: { ...values, share: null } })
  assert.equal(sample.subject, 'Test of an alert about Acme')
})

test('a mail names the firm, if it has a name', () => {
  const mail = { template: 'invitation', values: { token: 'abc', name: 'Ines', by: 'Paula' } } as const
  assert.equal(compose(mail).subject, 'You are invited to sign in')
  assert.match(compose(mail).paragraphs[1] ?? '', /^Paula invites you to sign in here /)
  const named = compose(mail, 'Penhallow & Partners')
  assert.equal(named.subject, 'You are invited to sign in – Penhallow & Partners')
  assert.match(named.paragraphs[1] ?? '', /^Paula invites you to sign in at Penhallow & Partners with this address\.$/)
})

test('a mail of tasks counts all of them and lists the first, each with its day if that has passed', () => {
  const listed = [
    { title: 'Pay the court', overdueSince: '9 March 2026' },
    { title: 'Call the mill', overdueSince: null },
  ]
  const mail = compose({ template: 'due_tasks', values: { overdue: 3, today: 1, listed } })
  assert.equal(mail.subject, 'Your tasks: 3 overdue, 1 due today')
  assert.deepEqual(mail.paragraphs, [
    'Overdue:\n• Pay the court (9 March 2026)',
    'Due today:\n• Call the mill',
    'And 2 more.',
  ])
  assert.equal(mail.button?.path, '/#tasks')
  const one = compose({ template: 'due_tasks', values: { overdue: 0, today: 1, listed: listed.slice(1) } })
  assert.equal(one.subject, 'Your tasks: 1 due today')
  assert.deepEqual(one.paragraphs, ['Due today:\n• Call the mill'])
})
