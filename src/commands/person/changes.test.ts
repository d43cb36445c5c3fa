import assert from 'node:assert/strict'
import { test } from 'node:test'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { tollgateHere, tollgateInto, type Outcome } from '../../../tests/support/command-line.ts'
import { objectAt, parseObject, type Json } from '../../../tests/support/json.ts'
import { setUp, temporaryFolder } from '../../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'

const folder = temporaryFolder()

const { own: home, database } = openOwnDatabase()
setUp(() => configure(''))

const configure = (settings: string) =>
  writeFile(path.join(folder, 'tollgate.yaml'), `base_url: https://tollgate.test\n${settings}`)

const environment = () => ({
  DATABASE_URL: home.url,
  TOLLGATE_DATA: folder,
  TOLLGATE_CONFIG: path.join(folder, 'tollgate.yaml'),
})
const run = (...args: string[]): Promise<Outcome> => tollgateHere(args, environment())

async function json(...args: string[]): Promise<Json> {
  const { status, stdout, stderr } = await run(...args, '--json')
  assert.deepEqual([status, stderr], [0, ''], args.join(' '))
  return parseObject(stdout)
}

async function text(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(...args)
  assert.deepEqual([status, stderr], [0, ''], args.join(' '))
  return stdout
}

let people = 0
async function newPerson(role = 'consultant'): Promise<{ id: string; email: string }> {
  people++
  const email = `person${people}@firm.example`
  const { id } = await json('person', 'create', '--email', email, '--name', `Person ${people}`, '--role', role)
  return { id: String(id), email }
}

const lastEntry = async () =>
  (
    await database.rows<{ said: string }>(
      `select concat_ws(' ', action, outcome, actor, noun_id) as said from audit
       where action <> 'people_listed' order by id desc limit 1`,
    )
  )[0]?.said

test('an invitation prints its link once', async () => {
  const printed = await text('person', 'invite', '--email', 'ines@firm.example', '--name', 'Ines', '--role', 'partner')
  assert.match(printed, /^Invited Ines as a partner\. .*\nhttps:\/\/tollgate\.test\/signin\/invitation#[\w-]{43}\n$/)
  const invited = await json('person', 'invite', '--email', 'ines@firm.example', '--name', 'Ines')
  assert.match(String(invited['link']), /#[\w-]{43}$/)
  const [row] = await database.rows<{ open: number; role: string; by: string | null; text: string }>(
    `select count(*)::int as open, max(role::text) as role, max(invited_by::text) as by, string_agg(i::text, ' ') as text from invitation i
     where withdrawn_at is null`,
  )
  assert.deepEqual([row?.open, row?.role, row?.by], [1, 'consultant', null])
  assert.ok(!row?.text.includes(String(invited['link']).split('#')[1] ?? ''))
  assert.equal(await lastEntry(), `person_invited allowed command ${String(invited['id'])}`)
})

const unseen = () => database.rows(`select from invitation where email_key = 'unseen@firm.example'`)

test('an invitation whose link nobody can see is refused, or says how to get another one', async () => {
  const invite = ['person', 'invite', '--email', 'unseen@firm.example', '--name', 'Unseen']
  for (const args of [invite, [...invite, '--json']]) {
    const closed = await tollgateInto('/dev/null', args, environment())
    assert.equal(closed.status, 1)
    assert.match(closed.stderr, /nobody would see the link\. None was created\.$/m)
    assert.equal((await unseen()).length, 0)
  }
  const full = '/dev/full'
  if (!existsSync(full)) return
  for (const args of [invite, [...invite, '--json']]) {
    const { status, stderr } = await tollgateInto(full, args, environment())
    assert.equal(status, 1)
    assert.match(stderr, /The link could not be written\. Run the command again for another one: /)
  }
})

test('names and addresses are changed', async () => {
  const { id, email } = await newPerson()
  assert.match(await text('person', 'rename', email, 'Frida'), /^Person \d+ is now called Frida\.\n$/)
  assert.equal(await lastEntry(), `person_renamed allowed command ${id}`)
  assert.equal((await json('person', 'email', email, 'Frida@firm.example'))['email'], 'Frida@firm.example')
  assert.equal(await lastEntry(), `email_changed allowed command ${id}`)
  assert.match((await run('person', 'rename', email, 'X')).stderr, /^Nobody has the address/)
})

test('with mail, a command queues a notice for the service to send', async () => {
  const { email } = await newPerson()
  await configure('mail: { url: "smtp://127.0.0.1:9", from: "t@firm.example" }')
  try {
    const early = await run('person', 'email', email, `new-${email}`)
    assert.deepEqual([early.status, early.stdout], [1, ''])
    assert.match(early.stderr, /^The mail queue is not ready: .*\.\/tollgate migrate/)
    await text('migrate')
    await text('person', 'email', email, `new-${email}`)
    const queued = await database.rows(`select from pgboss.job where name = 'mail'`)
    assert.equal(queued.length, 2)
  } finally {
    await configure('')
  }
})

test('accounts at providers are unlinked, and sessions ended', async () => {
  const { id, email } = await newPerson()
  await database.rows(
    `insert into identity (issuer, subject, person_id, created_at) values ('https://id.example', 's', $1, now())`,
    [id],
  )
  await newSession(id, 1)
  assert.deepEqual(await json('person', 'unlink', email), { id, unlinked: 1 })
  assert.equal((await database.rows('select from session')).length, 0)
  assert.match((await run('person', 'unlink', email)).stderr, /has no identity at a provider/)
  await newSession(id, 2)
  await newSession((await newPerson()).id, 3)
  assert.deepEqual(await json('person', 'sessions', id), { ended: 1 })
  assert.equal(await text('person', 'sessions', '--all'), 'Ended 1 session.\n')
  for (const args of [[], [email, '--all']]) {
    const { status, stderr } = await run('person', 'sessions', ...args)
    assert.deepEqual([status, stderr], [2, 'error: give either a person or --all\n'])
  }
})

async function newSession(personId: string, number: number): Promise<void> {
  await database.rows(
    `insert into session (hash, id, person_id, method, factors, device, network, created_at, last_seen_at, ends_at)
     values (sha256($2::text::bytea), gen_random_uuid(), $1, 'test', '{test}', '', '', now(), now(), now() + interval '1 hour')`,
    [personId, String(number)],
  )
}

test('a developer is granted accounts, by name or id, and the list shows them', async () => {
  const { id, email } = await newPerson('developer')
  const { id: account } = await json('account', 'create', '--name', 'Acme')
  const accounts = [{ id: account, name: 'Acme' }]
  assert.deepEqual(await json('person', 'grant', email, 'acme'), { id, accounts })
  assert.equal(await lastEntry(), `account_granted allowed command ${String(account)}`)
  const { people: listed } = await json('person', 'list')
  assert.ok(Array.isArray(listed))
  const rows = listed.map((_, place) => objectAt({ listed }, 'listed', place))
  assert.deepEqual(rows.find((row) => row['id'] === id)?.['accounts'], accounts)
  assert.match(await text('person', 'list'), new RegExp(`ACCOUNTS +ID\\n(?:.*\\n)*.*${email} .* Acme +${id}\\n`))
  assert.match(await text('person', 'revoke', id, String(account)), /^Person \d+ no longer sees Acme\.\n$/)
  assert.match(
    (await run('person', 'revoke', id, 'Acme')).stderr,
    /^Person \d+ was not granted an account with this id\.\n$/,
  )
  assert.match((await run('person', 'grant', id, 'Nobody')).stderr, /^No account has the name or id "Nobody"\.\n$/)
})

test('second factors are removed', async () => {
  const { id, email } = await newPerson()
  await database.rows(`insert into phone (person_id, number, verified_at) values ($1, '+4912345678', now())`, [id])
  assert.deepEqual(await json('person', 'reset-factor', email), { id, reset: true })
  assert.equal(await lastEntry(), `factors_reset allowed command ${id}`)
  assert.match((await run('person', 'reset-factor', email)).stderr, /has no second factor and no passkey/)
})

test('clients are handed over, after which the person can be deleted', async () => {
  const [leaving, staying] = [await newPerson(), await newPerson()]
  for (const name of ['One', 'Two']) {
    await json('client', 'create', '--name', name, '--consultant', leaving.email, '--reference', name)
  }
  const refused = await run('person', 'delete', leaving.email, '--yes')
  assert.deepEqual([refused.status, refused.stdout], [1, ''])
  assert.match(refused.stderr, /still has 2 clients, archived ones included\. Hand them over first/)
  const preview = await json('person', 'handover', leaving.email, staying.email, '--dry-run')
  assert.deepEqual(preview, { active: 2, archived: 0, conflicts: [], dry_run: true })
  assert.match(
    await text('person', 'handover', leaving.email, staying.email, '--dry-run'),
    /^Person \d+ has 2 active clients and 0 archived\. Nothing was changed\.\n$/,
  )
  assert.match(await text('person', 'handover', leaving.email, staying.email), /^Handed 2 clients of Person \d+ over/)
  assert.match((await run('person', 'delete', leaving.email)).stderr, /--yes/)
  assert.deepEqual(await json('person', 'delete', leaving.email, '--yes'), { id: leaving.id, deleted: true })
  assert.match((await run('person', 'list')).stdout, /Person/)
  assert.ok(!(await text('person', 'list')).includes(leaving.id))
  assert.equal(await lastEntry(), `person_deleted allowed command ${leaving.id}`)
  const partner = await newPerson('partner')
  assert.match((await run('person', 'delete', partner.email, '--yes')).stderr, /is the last partner/)
})
