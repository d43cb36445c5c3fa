import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, test } from 'node:test'
import { tollgateHere, type Outcome } from '../../tests/support/command-line.ts'
import { parseObject } from '../../tests/support/json.ts'
import { setUp, temporaryFolder } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'

const folder = temporaryFolder()
let account: string

const { own: home, database } = openOwnDatabase()
setUp(async () => {
  await writeFile(path.join(folder, 'tollgate.yaml'), '{}')
  await run('person', 'create', '--email', 'anna@firm.example', '--name', 'Anna')
  const { stdout } = await run('account', 'create', '--name', 'Acme', '--credit', '5', '--json')
  account = String(parseObject(stdout)['id'])
})

function run(...args: string[]): Promise<Outcome> {
  return tollgateHere(args, {
    DATABASE_URL: home.url,
    TOLLGATE_DATA: folder,
    TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'),
  })
}

async function events(): Promise<object[]> {
  return database.rows('select actor, actor_name, action, outcome, noun, noun_id, details from audit order by at, id')
}

interface Recorded {
  readonly action: string
  readonly noun: string
  readonly noun_id?: string
  readonly details?: Readonly<Record<string, string>>
}

/** Each command, what it records, and what it would show. */
const views = (): readonly (readonly [line: string, recorded: Recorded, shown: RegExp])[] => [
  ['person list', { action: 'people_listed', noun: 'person' }, /Anna/],
  ['account list', { action: 'accounts_listed', noun: 'account' }, /Acme/],
  ['account show Acme', { action: 'account_read', noun: 'account', noun_id: account }, /Acme/],
  ['key list', { action: 'account_keys_listed', noun: 'account' }, /No keys/],
  ['key list --account Acme', { action: 'account_keys_listed', noun: 'account', noun_id: account }, /No keys/],
  ['batch list', { action: 'account_batches_listed', noun: 'account' }, /No batch/],
  ['batch list --account Acme', { action: 'account_batches_listed', noun: 'account', noun_id: account }, /No batch/],
  ['price list', { action: 'models_listed', noun: 'model' }, /./],
  ['model list', { action: 'models_listed', noun: 'model' }, /./],
  ['usage', { action: 'usage_read', noun: 'usage', details: {} }, /No usage/],
  [
    // Nothing could erase a name from the audit log.
    'usage --account Acme --from 2030-01-31 --by tag --tag mei',
    { action: 'usage_read', noun: 'usage', details: { account: '?', from: '2030-01-31', by: '?', tag: '?' } },
    /No usage/,
  ],
  [
    'ledger --account Acme --from 2030-01-31T10:00Z',
    { action: 'requests_read', noun: 'usage', details: { account, from: '2030-01-31T10:00:00.000Z' } },
    /No charges/,
  ],
]

describe('B94: a command that only shows something', () => {
  test('leaves an audit row with its actor', async () => {
    for (const [line, recorded, shown] of views()) {
      const earlier = await events()
      const { status, stdout, stderr } = await run(...line.split(' '))
      assert.deepEqual([status, stderr], [0, ''], line)
      assert.match(stdout, shown, line)
      const [row, ...others] = (await events()).slice(earlier.length)
      const { actor_name: user, ...rest } = { actor_name: undefined, ...row }
      assert.deepEqual(
        [rest, others],
        [{ actor: 'command', outcome: 'allowed', noun_id: null, details: null, ...recorded }, []],
        line,
      )
      assert.ok(user, line)
    }
  })

  test('shows nothing if it cannot be recorded', async () => {
    await database.rows(`create function full_log() returns trigger language plpgsql as
      $$ begin raise exception 'the log is full' using errcode = 'disk_full'; end $$`)
    await database.rows('create trigger full_log before insert on audit for each statement execute function full_log()')
    try {
      for (const [line] of views()) {
        const { status, stdout } = await run(...line.split(' '), '--json')
        assert.deepEqual([status, stdout], [1, ''], line)
      }
    } finally {
      await database.rows('drop function full_log cascade')
    }
  })
})
