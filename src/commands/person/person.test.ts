import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { tollgateHere, type Outcome } from '../../../tests/support/command-line.ts'
import { at, parseObject, type Json, valuesOf } from '../../../tests/support/json.ts'
import { setUp, temporaryFolder } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'

const folder = temporaryFolder()

const { own: home, database } = openOwnDatabase()
setUp(() =>
  writeFile(path.join(folder, 'tollgate.yaml'), 'sign_in: { sign_up: { policy: domain, domains: [firm.example] } }'),
)

const run = (...args: string[]): Promise<Outcome> =>
  tollgateHere(['person', ...args], {
    DATABASE_URL: home.url,
    TOLLGATE_DATA: folder,
    TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'),
  })

async function json(...args: string[]): Promise<Json> {
  const { status, stdout, stderr } = await run(...args, '--json')
  assert.deepEqual([status, stderr], [0, ''], args.join(' '))
  return parseObject(stdout)
}

test('an empty list says how to add the first partner', async () => {
  assert.deepEqual(await json('list'), { people: [] })
  assert.match((await run('list')).stdout, /^No people yet\. .*person create/)
})

test('people are added, listed, disabled and enabled, and their roles changed', async () => {
  const ruth = await json('create', '--email', ' Ruth@FIRM.example ', '--name', 'Ruth', '--role', 'partner')
  assert.deepEqual({ ...ruth, id: '' }, { id: '', name: 'Ruth', email: 'Ruth@FIRM.example', role: 'partner' })
  const { id } = await json('create', '--email', 'mei@firm.example', '--name', 'Mei')
  const { people } = await json('list')
  assert.deepEqual(
    [0, 1].map((place) => [at(people, place, 'name'), at(people, place, 'role'), at(people, place, 'status')]),
    [
      ['Mei', 'consultant', 'active'],
      ['Ruth', 'partner', 'active'],
    ],
  )
  assert.equal((await json('role', 'MEI@firm.example', 'partner'))['role'], 'partner')
  assert.equal((await json('disable', String(id)))['status'], 'disabled')
  assert.equal((await json('enable', 'mei@firm.example'))['status'], 'active')
  assert.match(
    (await run('list')).stdout,
    /^NAME +EMAIL +ROLE +STATUS +LAST SIGN-IN +ID\nMei +mei@firm.example +partner +active +- +[-\da-f]{36}\n/,
  )
  const entries = await database.rows<{ action: string }>(
    `select action from audit where action <> 'people_listed' order by at, id`,
  )
  assert.deepEqual(valuesOf(entries, 'action'), [
    'person_created',
    'person_created',
    'role_changed',
    'person_disabled',
    'person_enabled',
  ])
})

test('a refused command changes nothing', async () => {
  await run('role', 'mei@firm.example', 'consultant')
  const had = await json('list')
  const cases: [string[], number, RegExp][] = [
    [['create', '--email', 'RUTH@firm.example', '--name', 'R'], 1, /^A person with the address RUTH@firm/],
    [['create', '--email', 'nobody', '--name', 'N'], 1, /^"nobody" is not an email address/],
    [['create', '--email', 'n@firm.example', '--name', ' '], 1, /^Give a name/],
    [['create', '--email', 'n@firm.example', '--name', 'N', '--role', 'king'], 2, /Allowed choices are/],
    [['create', '--name', 'N'], 2, /--email/],
    [['role', 'ruth@firm.example', 'consultant'], 1, /^Ruth is the last partner/],
    [['role', 'ruth@firm.example', 'king'], 2, /Allowed choices are/],
    [['disable', 'ruth@firm.example'], 1, /^Ruth is the last partner/],
    [['disable', 'who@firm.example'], 1, /^Nobody has the address "who@firm.example"/],
    [['enable', '01a1fde9-640a-7d47-911d-f32ac54c1c8c'], 1, /^No person has the id/],
  ]
  for (const [args, status, reason] of cases) {
    const outcome = await run(...args)
    assert.deepEqual([outcome.status, outcome.stdout], [status, ''], args.join(' '))
    assert.match(outcome.stderr, reason)
  }
  assert.deepEqual(await json('list'), had)
})

test('a person whom the sign-up policy excludes is added with a warning', async () => {
  const { status, stderr } = await run('create', '--email', 'a@elsewhere.example', '--name', 'A')
  assert.equal(status, 0)
  assert.match(stderr, /^a@elsewhere\.example cannot sign in: .* only addresses at firm\.example\.$/m)
})
