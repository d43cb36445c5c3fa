import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService, personActor } from '../../src/access/actor.ts'
import { verifyRecords } from '../../src/clients/verify.ts'
import type { Database } from '../../src/platform/database/database.ts'
import type { Answer } from '../support/answer.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { asSuperuser } from '../support/superuser.ts'
import { whileTampered } from '../support/tamper.ts'

const { firm, anna, ben, paula } = openFirm()

const any = { 'if-match': '*' }

/** Adds a task and returns its path. */
async function add(by: Member, client: string, task: object): Promise<string> {
  const answer = await by.send('POST', `/clients/${client}/tasks`, task)
  assert.equal(answer.status, 201, answer.text)
  return `/clients/${client}/tasks/${String(answer.json['id'])}`
}

async function titlesIn(by: Member, client: string): Promise<string[]> {
  const { tasks } = (await by.get(`/clients/${client}/tasks`)).json
  return Array.isArray(tasks) ? tasks.map((each) => String(at(each, 'title'))) : assert.fail()
}

async function ownerOf(path: string): Promise<unknown> {
  return at((await paula.get(path)).json, 'owner', 'name')
}

const faultOf = ({ status, json }: Answer) => [status, at(json, 'error', 'code'), at(json, 'error', 'field')]

describe('a task', () => {
  test('has a title, and what else is given; the rest has defaults', async () => {
    const client = await firm.client(anna)
    const { json } = await anna.get(await add(anna, client, { title: 'Call Maria' }))
    const { due, priority, status, owner_id, owner, about, done_at, done_by, version } = json
    assert.deepEqual(
      { due, priority, status, owner_id, owner, about, done_at, done_by, version },
      {
        due: null,
        priority: 'normal',
        status: 'open',
        owner_id: null,
        owner: { id: anna.id, name: 'Anna' },
        about: null,
        done_at: null,
        done_by: null,
        version: 1,
      },
    )
    const given = { title: 'Answer', due: '2024-02-29', priority: 'high' }
    const full = (await anna.get(await add(anna, client, given))).json
    assert.deepEqual([full['title'], full['due'], full['priority']], ['Answer', '2024-02-29', 'high'])
  })

  for (const [what, task, field] of [
    ['without a title', { due: '2026-03-19' }, 'title'],
    ['with an empty title', { title: '' }, 'title'],
    ['with a title of 301 characters', { title: 'x'.repeat(301) }, 'title'],
    ['with a NUL in its title', { title: 'a\0b' }, 'title'],
    ['due on a day that does not exist', { title: 'a', due: '2026-02-29' }, 'due'],
    ['due at a time', { title: 'a', due: '2026-03-19T10:00:00Z' }, 'due'],
    ['of an unknown priority', { title: 'a', priority: 'urgent' }, 'priority'],
    ['about what the record does not have', { title: 'a', about: { noun: 'note', id: randomUUIDv7() } }, 'about'],
    ['about what is no id', { title: 'a', about: { noun: 'note', id: 'x' } }, 'about'],
    ['with an author', { title: 'a', created_by: randomUUIDv7() }, 'created_by'],
  ] as const) {
    test(`${what} is refused`, async () => {
      const client = await firm.client(anna)
      const answer = await anna.send('POST', `/clients/${client}/tasks`, task)
      assert.deepEqual([answer.status, at(answer.json, 'error', 'field')], [400, field], answer.text)
      assert.deepEqual(await titlesIn(anna, client), [])
    })
  }

  test('is completed and opened again, and says who did it, and when', async () => {
    const client = await firm.client(anna)
    const path = await add(anna, client, { title: 'Call' })
    const done = await paula.send('PATCH', path, { status: 'done' }, { 'if-match': '"1"' })
    assert.deepEqual([done.status, at(done.json, 'done_by', 'name')], [200, 'Paula'])
    assert.ok(done.json['done_at'] !== null)
    const renamed = await anna.send('PATCH', path, { title: 'Call again' }, { 'if-match': '"2"' })
    assert.deepEqual([renamed.json['done_at'], renamed.json['done_by']], [done.json['done_at'], done.json['done_by']])
    const open = await anna.send('PATCH', path, { status: 'open' }, { 'if-match': '"3"' })
    assert.deepEqual([open.json['done_at'], open.json['done_by'], open.json['version']], [null, null, 4])
    const rows = await firm.service.database.rows<{ action: string }>(
      `select action from audit where noun = 'task' and noun_id = $1 and action !~ '_read$' order by id`,
      [path.split('/').at(-1)],
    )
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['task_created', 'task_done', 'task_changed', 'task_changed'],
    )
  })

  test('completed in two tabs is completed once: the second learns what it is now', async () => {
    const path = await add(anna, await firm.client(anna), { title: 'Call' })
    const done = () => anna.send('PATCH', path, { status: 'done' }, { 'if-match': '"1"' })
    const [first, second] = [await done(), await done()]
    assert.deepEqual([first.status, second.status], [200, 412])
    assert.deepEqual([at(second.json, 'current', 'status'), at(second.json, 'current', 'version')], ['done', 2])
  })

  test('is listed by day and priority, without a day last, and completed ones after all', async () => {
    const client = await firm.client(anna)
    const done = await add(anna, client, { title: 'done', due: '2020-01-01' })
    await anna.send('PATCH', done, { status: 'done' }, any)
    await add(anna, client, { title: 'some day' })
    await add(anna, client, { title: 'later', due: '2026-03-20' })
    await add(anna, client, { title: 'low', due: '2026-03-19', priority: 'low' })
    await add(anna, client, { title: 'high', due: '2026-03-19', priority: 'high' })
    const archived = await add(anna, client, { title: 'archived', due: '2026-03-19' })
    assert.equal((await anna.send('DELETE', archived)).status, 204)
    assert.deepEqual(await titlesIn(anna, client), ['high', 'low', 'later', 'some day', 'done'])
    const { json } = await anna.get(`/clients/${client}/tasks?archived=true`)
    assert.equal(at(json, 'tasks', 0, 'title'), 'archived')
    assert.equal((await anna.send('POST', `${archived}/restore`)).status, 200)
    assert.ok((await titlesIn(anna, client)).includes('archived'))
  })

  test('concerns an item of its record, and says what that is called now', async () => {
    const client = await firm.client(anna)
    const other = await firm.client(anna)
    const note = async (of: string) => {
      const { json } = await anna.send('POST', `/clients/${of}/notes`, { date: '2026-03-12', text: 'Met' })
      return { noun: 'note', id: String(json['id']) }
    }
    const about = await note(client)
    const path = await add(anna, client, { title: 'Answer', about })
    const { json } = await anna.get(path)
    assert.deepEqual([json['about'], json['about_title']], [about, '2026-03-12'])
    await anna.send('PATCH', `/clients/${client}/notes/${about.id}`, { date: '2026-03-13' }, any)
    assert.equal((await anna.get(path)).json['about_title'], '2026-03-13')
    const elsewhere = { title: 'Answer', about: await note(other) }
    assert.deepEqual(faultOf(await anna.send('POST', `/clients/${client}/tasks`, elsewhere)), [
      400,
      'invalid_field',
      'about',
    ])
    const cleared = await anna.send('PATCH', path, { about: null }, any)
    assert.deepEqual([cleared.json['about'], cleared.json['about_title']], [null, null])
  })

  test('about an invoice is written by partners only, and does not tell a consultant its number', async () => {
    const client = await firm.client(anna)
    const { json: invoice } = await paula.send('POST', '/invoices', {
      client,
      lines: [{ text: 'Advice', quantity: '1', unit: 'hour', unit_price: '10' }],
    })
    const about = { noun: 'invoice', id: String(invoice['id']) }
    const refused = await anna.send('POST', `/clients/${client}/tasks`, { title: 'Chase', about })
    assert.deepEqual(faultOf(refused), [400, 'invalid_field', 'about'])
    const path = await add(paula, client, { title: 'Chase', about })
    assert.deepEqual((await paula.get(path)).json['about'], about)
    assert.equal((await anna.get(path)).json['about_title'], null)
    const done = await anna.send('PATCH', path, { status: 'done' }, any)
    assert.equal(done.status, 200, 'the consultant completes it without seeing the invoice')
  })

  test('is found by its title, and only by those who see the record', async () => {
    const path = await add(anna, await firm.client(anna), { title: 'Return the heliotrope folder' })
    const found = await anna.get('/search?q=heliotr')
    assert.deepEqual(
      [at(found.json, 'results', 0, 'noun'), at(found.json, 'results', 0, 'id')],
      ['task', path.split('/').at(-1)],
    )
    assert.deepEqual((await ben.get('/search?q=heliotr')).json['results'], [])
  })

  test('is one of at most 1 000 on a record', async () => {
    const client = await firm.client(anna)
    await asSuperuser(firm.service.database, (tx) =>
      tx.rows(
        `insert into task (id, client_id, title) select gen_random_uuid(), $1, 'a' from generate_series(1, 1000)`,
        [client],
      ),
    )
    const { status, json } = await anna.send('POST', `/clients/${client}/tasks`, { title: 'one more' })
    assert.deepEqual([status, at(json, 'error', 'code')], [409, 'conflict'])
    assert.equal((await titlesIn(anna, client)).length, 1000)
  })
})

describe('the owner of a task', () => {
  test('is the consultant of the client, and moves with it', async () => {
    const client = await firm.client(anna)
    const path = await add(anna, client, { title: 'Call' })
    const named = await add(paula, client, { title: 'Write', owner_id: anna.id })
    assert.equal((await paula.get(named)).json['owner_id'], null, 'the consultant needs no name')
    const moved = await paula.send('PATCH', `/clients/${client}`, { consultant_id: ben.id }, any)
    assert.equal(moved.status, 200)
    assert.deepEqual([await ownerOf(path), await ownerOf(named)], ['Ben', 'Ben'])
    assert.equal((await anna.get(path)).status, 403)
    const { json } = await ben.get(path)
    assert.equal(json['version'], 1, 'a hand-over does not write tasks')
  })

  test('is another partner only if a partner says so', async () => {
    const client = await firm.client(anna)
    const refused = await anna.send('POST', `/clients/${client}/tasks`, { title: 'Call', owner_id: paula.id })
    assert.deepEqual(faultOf(refused), [403, 'forbidden', 'owner_id'])
    for (const owner_id of [ben.id, randomUUIDv7(), 'x']) {
      const answer = await paula.send('POST', `/clients/${client}/tasks`, { title: 'Call', owner_id })
      assert.deepEqual(faultOf(answer), [400, 'invalid_field', 'owner_id'], owner_id)
    }
    const path = await add(paula, client, { title: 'Call', owner_id: paula.id })
    assert.equal(await ownerOf(path), 'Paula')
    const changed = await anna.send('PATCH', path, { title: 'Call today' }, any)
    assert.deepEqual([changed.status, at(changed.json, 'owner', 'name')], [200, 'Paula'])
    await paula.send('PATCH', `/clients/${client}`, { consultant_id: ben.id }, any)
    assert.equal(await ownerOf(path), 'Paula', 'what a partner does stays with them')
  })

  for (const [what, end] of [
    ['is disabled', (id: string) => firm.service.people.setStatus(id, 'disabled', byService)],
    ['becomes a consultant', (id: string) => firm.service.people.setRole(id, 'consultant', byService)],
  ] as const) {
    test(`is the consultant again when the partner ${what}`, async () => {
      const petra = await firm.join('Petra', 'partner')
      const client = await firm.client(anna)
      const path = await add(paula, client, { title: 'Call', owner_id: petra.id })
      assert.equal(await ownerOf(path), 'Petra')
      await end(petra.id)
      assert.equal(await ownerOf(path), 'Anna')
      const again = await anna.send('PATCH', path, { status: 'done' }, any)
      assert.equal(again.status, 200, 'the task can be changed though its partner left')
    })
  }
})

test('a hand-over moves every task of a person', async () => {
  const [leaving, staying] = [await firm.join('Leaving', 'consultant'), await firm.join('Staying', 'consultant')]
  const paths = []
  for (const name of ['One', 'Two']) paths.push(await add(leaving, await firm.client(leaving, name), { title: name }))
  await firm.service.people.setStatus(leaving.id, 'disabled', byService)
  assert.deepEqual([await ownerOf(paths[0] ?? ''), (await leaving.get(paths[0] ?? '')).status], ['Leaving', 401])
  const moved = await paula.send('POST', `/people/${leaving.id}/handover`, { to: staying.id })
  assert.deepEqual(moved.json, { handed_over: 2 })
  for (const path of paths) {
    assert.equal((await staying.get(path)).status, 200)
    assert.equal(await ownerOf(path), 'Staying')
  }
})

test('the database keeps who completed a task, and when, from every statement of the portal', async () => {
  const client = await firm.client(anna)
  const id = (await add(anna, client, { title: 'Call' })).split('/').at(-1)
  const { access } = firm.service.records
  for (const column of ['done_at = now()', `done_by = '${ben.id}'`, `created_by = '${ben.id}'`, `client_id = id`]) {
    const statement = { name: column, text: `update task set ${column} where id = $1`, values: [id] }
    await assert.rejects(access.as({ actor: personActor(anna) }, [statement]), { code: '42501' }, column)
  }
  const forged = { name: 'remove', text: 'delete from task where id = $1', values: [id] }
  await assert.rejects(access.as({ actor: personActor(paula) }, [forged]), { code: '42501' })
})

/** The names of the checks of records that find a fault. */
const faults = async (database: Database) =>
  (await verifyRecords(database)).flatMap(({ ok, name }) => (ok ? [] : [name]))

describe('verify finds', () => {
  for (const [what, statement] of [
    ['a task that was removed', 'delete from task where id = $1'],
    ['a task whose day was changed', `update task set due = '2030-01-01' where id = $1`],
    ['a task that someone else is said to have completed', `update task set done_by = created_by where id = $1`],
  ] as const) {
    test(what, async () => {
      const path = await add(anna, await firm.client(anna), { title: 'Call', due: '2026-03-19' })
      await paula.send('PATCH', path, { status: 'done' }, any)
      const { database } = firm.service
      assert.deepEqual(await faults(database), [])
      const changed = statement.replace('$1', `'${path.split('/').at(-1)}'`)
      assert.deepEqual(await whileTampered(database, changed, faults), ['every record is its last revision'])
    })
  }
})
