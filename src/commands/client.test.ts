import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { tollgateHere } from '../../tests/support/command-line.ts'
import { createTestDatabase } from '../../tests/support/database.ts'
import { at, parseObject } from '../../tests/support/json.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { fixture, setUp, temporaryFolder } from '../../tests/support/fixture.ts'
import { byService } from '../access/actor.ts'
import { createAudit } from '../access/audit/audit.ts'
import { createPeople } from '../people/people.ts'
import { openDatabase } from '../platform/database/database.ts'

const folder = temporaryFolder()

const home = fixture(() => createTestDatabase())
setUp(async () => {
  const { log } = createTestLog()
  const database = openDatabase(home.url, { log })
  const audit = createAudit({ database })
  const people = createPeople({ database, audit })
  for (const name of ['Anna', 'Ben']) {
    await people.create({ name, email: `${name.toLowerCase()}@firm.example`, role: 'consultant' }, byService)
  }
  await audit.close()
  await database.close()
})

const run = (...args: string[]) => tollgateHere(args, { DATABASE_URL: home.url, TOLLGATE_DATA: folder })
const json = async (...args: string[]) => {
  const { status, stdout, stderr } = await run(...args, '--json')
  assert.deepEqual([status, stderr], [0, ''], args.join(' '))
  return parseObject(stdout)
}

test('client create, list and assign', async () => {
  const made = await json(
    'client',
    'create',
    '--name',
    'Berg & Sons',
    '--consultant',
    'ANNA@firm.example',
    '--reference',
    'B-1',
  )
  assert.deepEqual([made['name'], made['reference'], at(made, 'consultant', 'name')], ['Berg & Sons', 'B-1', 'Anna'])
  await json('client', 'create', '--name', 'Holm', '--consultant', 'ben@firm.example')
  const names = async (...options: string[]) => {
    const { clients } = await json('client', 'list', ...options)
    assert.ok(Array.isArray(clients))
    return clients.map((client: unknown) => at(client, 'name'))
  }
  assert.deepEqual(await names(), ['Berg & Sons', 'Holm'])
  assert.deepEqual(await names('--consultant', 'anna@firm.example'), ['Berg & Sons'])
  assert.deepEqual(await names('--status', 'archived'), [])
  for (const [client, whose] of [
    ['B-1', 'ben'],
    ['Berg & Sons', 'anna'],
    [String(made['id']), 'ben'],
  ] as const) {
    const given = await json('client', 'assign', client, `${whose}@firm.example`)
    assert.equal(String(at(given, 'consultant', 'name')).toLowerCase(), whose)
  }
  assert.match(
    (await run('client', 'list')).stdout,
    /^NAME +REFERENCE +CONSULTANT +STATUS +ID\nBerg & Sons +B-1 +Ben +active +[-\da-f]{36}\n/,
  )
})

test('client refuses wrong arguments in one line', async () => {
  const refused: [args: string[], status: number, reason: RegExp][] = [
    [['create', '--name', 'X', '--consultant', 'nobody@firm.example'], 1, /Nobody has the address.*person list/],
    [['create', '--name', 'X'], 2, /--consultant/],
    [['create', '--name', '', '--consultant', 'ben@firm.example'], 1, /^--name .* empty/],
    [['create', '--name', 'X', '--consultant', 'ben@firm.example', '--email', 'x'], 1, /^--email must be/],
    [['assign', 'Nobody & Co', 'anna@firm.example'], 1, /No client has/],
    [['assign', '01990000-0000-7000-8000-000000000000', 'anna@firm.example'], 1, /never existed/],
    [['list', '--status', 'gone'], 2, /active, archived, all/],
    [['import', '/nowhere.csv'], 1, /cannot be read \(ENOENT\)/],
  ]
  for (const [args, status, reason] of refused) {
    const outcome = await run('client', ...args)
    assert.equal(outcome.status, status, outcome.stderr)
    assert.match(outcome.stderr, reason)
  }
})

test('client import imports a file, or names the lines with errors and imports nothing', async () => {
  const file = path.join(folder, 'clients.csv')
  await writeFile(file, 'name,reference\nOne,I-1\n"Two,I-2\nThree,I-3\n')
  const broken = await run('client', 'import', file, '--consultant', 'anna@firm.example')
  assert.deepEqual([broken.status, broken.stdout], [1, ''])
  assert.match(broken.stderr, /^Nothing was imported\..*\nline 3: .*closing quote\n$/)
  await writeFile(file, 'name,reference\nOne,I-1\n"Two",I-2\nThree,I-3\n')
  const options = ['--consultant', 'anna@firm.example']
  assert.deepEqual(await json('client', 'import', file, ...options, '--dry-run'), {
    imported: 3,
    faults: [],
    dry_run: true,
  })
  assert.deepEqual(await json('client', 'import', file, ...options), { imported: 3, faults: [], dry_run: false })
  const again = await run('client', 'import', file, ...options, '--json')
  assert.equal(again.status, 1)
  const { imported, faults } = parseObject(again.stdout)
  assert.ok(Array.isArray(faults))
  assert.deepEqual([imported, faults.map((fault: unknown) => at(fault, 'line'))], [0, [2, 3, 4]])
})

test('the audit log has every command with the operating-system user, and verify passes', async () => {
  const database = openDatabase(home.url, createTestLog())
  const rows = await database.rows(
    `select action, count(*)::int as n, count(person_id)::int as people,
       min(actor || ' ' || actor_name) as actor from audit where action like 'client\\_%'
      and outcome = 'allowed' and action !~ 'listed' group by 1 order by 1`,
  )
  await database.close()
  const actor = `command ${userInfo().username}`
  assert.deepEqual(rows, [
    { action: 'client_assigned', n: 3, people: 0, actor },
    { action: 'client_created', n: 2, people: 0, actor },
    { action: 'client_imported', n: 3, people: 0, actor },
  ])
  const { ok, checks } = await json('verify')
  assert.equal(ok, true)
  assert.match(JSON.stringify(checks), /the sealed rows of audit are unchanged/)
})

const listed = async (...options: string[]) => JSON.stringify((await json('client', 'list', ...options))['clients'])

test('client list leaves out archived clients unless they are asked for', async () => {
  const superuser = openDatabase(home.superuserUrl, createTestLog())
  await superuser.rows(`update client set status = 'archived', version = version + 1 where name = 'Holm'`)
  await superuser.close()
  assert.doesNotMatch(await listed(), /"name":"Holm"/)
  for (const status of ['archived', 'all']) assert.match(await listed('--status', status), /"name":"Holm"/)
})

test('client assign refuses the name of two clients, and finds an archived one by its name', async () => {
  for (let n = 0; n < 2; n++) await json('client', 'create', '--name', 'Lind', '--consultant', 'anna@firm.example')
  const refused = await run('client', 'assign', 'Lind', 'ben@firm.example')
  assert.deepEqual([refused.status, refused.stdout], [1, ''])
  assert.match(refused.stderr, /^2 clients have the reference or name "Lind": use an id\.\n$/)
  assert.equal((await listed('--consultant', 'anna@firm.example')).match(/"name":"Lind"/g)?.length, 2)
  assert.match((await run('client', 'assign', 'Holm', 'anna@firm.example')).stderr, /^The client is archived/)
})
