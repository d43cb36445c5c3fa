import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService, personActor } from '../../src/access/actor.ts'
import { verifyRecords } from '../../src/clients/verify.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { asSuperuser } from '../support/superuser.ts'
import { whileTampered } from '../support/tamper.ts'

const { firm, anna, ben, paula } = openFirm()

const any = { 'if-match': '*' }
const maria = {
  name: 'Maria Lopes',
  job_title: 'Head of accounts',
  email: 'maria@client.example',
  phone: '+44 1632 960146',
  language: 'pt',
}

/** Adds a contact and returns its path. */
async function add(by: Member, client: string, contact: object): Promise<string> {
  const answer = await by.send('POST', `/clients/${client}/contacts`, contact)
  assert.equal(answer.status, 201, answer.text)
  return `/clients/${client}/contacts/${String(answer.json['id'])}`
}

async function namesIn(by: Member, client: string): Promise<string[]> {
  const { contacts } = (await by.get(`/clients/${client}/contacts`)).json
  return Array.isArray(contacts) ? contacts.map((each) => String(at(each, 'name'))) : assert.fail()
}

describe('a contact', () => {
  test('has a name, and what else is known', async () => {
    const client = await firm.client(anna)
    const { name, job_title, email, phone, language, version } = (await anna.get(await add(anna, client, maria))).json
    assert.deepEqual({ name, job_title, email, phone, language, version }, { ...maria, version: 1 })
    const bare = (await anna.get(await add(anna, client, { name: 'Reception', email: ' desk@client.example ' }))).json
    assert.deepEqual(
      [bare['job_title'], bare['email'], bare['phone'], bare['language']],
      [null, 'desk@client.example', null, null],
    )
  })

  for (const [what, contact, field] of [
    ['without a name', { email: 'a@b.example' }, 'name'],
    ['with an empty name', { name: '' }, 'name'],
    ['with a name of 201 characters', { name: 'x'.repeat(201) }, 'name'],
    ['with a name of two lines', { name: 'a\nb' }, 'name'],
    ['with an address that is none', { name: 'a', email: 'maria' }, 'email'],
    ['with two addresses', { name: 'a', email: 'a@b.example, c@d.example' }, 'email'],
    ['with a job_title of 101 characters', { name: 'a', job_title: 'x'.repeat(101) }, 'job_title'],
    ['with a telephone number of 51 characters', { name: 'a', phone: '1'.repeat(51) }, 'phone'],
    ['with a language that is not offered', { name: 'a', language: 'tlh' }, 'language'],
    ['with an author', { name: 'a', created_by: randomUUIDv7() }, 'created_by'],
  ] as const) {
    test(`${what} is refused`, async () => {
      const client = await firm.client(anna)
      const answer = await anna.send('POST', `/clients/${client}/contacts`, contact)
      assert.deepEqual([answer.status, at(answer.json, 'error', 'field')], [400, field], answer.text)
      assert.deepEqual(await namesIn(anna, client), [])
    })
  }

  test('is changed, archived and restored, with a revision and an audit event each', async () => {
    const client = await firm.client(anna)
    const path = await add(anna, client, maria)
    const first = () => anna.send('PATCH', path, { email: null, language: 'en' }, { 'if-match': '"1"' })
    const [changed, stale] = [await first(), await first()]
    assert.deepEqual([changed.status, changed.json['email'], changed.json['language']], [200, null, 'en'])
    assert.deepEqual([stale.status, at(stale.json, 'current', 'version')], [412, 2])
    assert.equal((await paula.send('DELETE', path)).status, 204)
    assert.deepEqual(await namesIn(anna, client), [])
    const archived = await anna.get(`/clients/${client}/contacts?archived=true`)
    assert.equal(at(archived.json, 'contacts', 0, 'name'), maria.name)
    assert.equal((await anna.send('PATCH', path, { job_title: 'x' }, any)).status, 409)
    assert.equal((await anna.send('POST', `${path}/restore`)).status, 200)
    const { revisions } = (await anna.get(`${path}/revisions`)).json
    assert.deepEqual([at(revisions, 3, 'data'), at(revisions, 0, 'data', 'email')], [maria, null])
    const rows = await firm.service.database.rows<{ action: string; name: string }>(
      `select a.action, p.name from audit a join person p on p.id = a.person_id where a.noun = 'contact' and a.noun_id = $1
        and a.action !~ '_read$' and a.outcome = 'allowed' order by a.id`,
      [path.split('/').at(-1)],
    )
    assert.deepEqual(
      rows.map(({ action, name }) => `${action} ${name}`),
      ['contact_created Anna', 'contact_changed Anna', 'contact_archived Paula', 'contact_restored Anna'],
    )
  })

  test('is listed by name, in whatever script it is written', async () => {
    const client = await firm.client(anna)
    for (const name of ['דנה לוי', 'zoe', 'Älfe', 'Bob', 'أمينة يوسف']) await add(anna, client, { name })
    assert.deepEqual(await namesIn(anna, client), ['Älfe', 'Bob', 'zoe', 'דנה לוי', 'أمينة يوسف'])
  })

  test('is found by what it says, and only by those who see the record', async () => {
    const client = await firm.client(anna)
    const path = await add(anna, client, {
      name: 'Heliodora Quill',
      job_title: 'Lamplighter',
      email: 'quill@lamps.example',
      phone: '+49 30 778811',
    })
    for (const q of ['heliod', 'lamplight', 'quill@lamps', '778811']) {
      const { json } = await anna.get(`/search?q=${encodeURIComponent(q)}`)
      assert.deepEqual(
        [at(json, 'results', 0, 'noun'), at(json, 'results', 0, 'id'), at(json, 'results', 0, 'title')],
        ['contact', path.split('/').at(-1), 'Heliodora Quill'],
        q,
      )
      assert.deepEqual((await ben.get(`/search?q=${encodeURIComponent(q)}`)).json['results'], [], q)
    }
  })

  test('moves with the client, and is out of reach of a person who is disabled', async () => {
    const leaving = await firm.join('Leaving', 'consultant')
    const client = await firm.client(leaving)
    const path = await add(leaving, client, maria)
    await paula.send('PATCH', `/clients/${client}`, { consultant_id: ben.id }, any)
    assert.equal((await leaving.send('PATCH', path, { name: 'Mine' }, any)).status, 403)
    assert.deepEqual([(await ben.get(path)).json['name'], (await ben.get(path)).json['version']], [maria.name, 1])
    await firm.service.people.setStatus(leaving.id, 'disabled', byService)
    assert.equal((await leaving.get(path)).status, 401)
  })

  test('is one of at most 1 000 on a record', async () => {
    const client = await firm.client(anna)
    await asSuperuser(firm.service.database, (tx) =>
      tx.rows(
        `insert into contact (id, client_id, name) select gen_random_uuid(), $1, 'a' from generate_series(1, 1000)`,
        [client],
      ),
    )
    const { status, json } = await anna.send('POST', `/clients/${client}/contacts`, { name: 'one more' })
    assert.deepEqual([status, at(json, 'error', 'code')], [409, 'conflict'])
    assert.equal((await namesIn(anna, client)).length, 1000)
  })
})

test('the database keeps contacts from every statement of the portal that is no edit', async () => {
  const client = await firm.client(anna)
  const id = (await add(anna, client, maria)).split('/').at(-1)
  const { access } = firm.service.records
  for (const column of [`created_by = '${ben.id}'`, `client_id = id`, 'created_at = now()']) {
    const statement = { name: column, text: `update contact set ${column} where id = $1`, values: [id] }
    await assert.rejects(access.as({ actor: personActor(anna) }, [statement]), { code: '42501' }, column)
  }
  const removal = { name: 'remove', text: 'delete from contact where id = $1', values: [id] }
  await assert.rejects(access.as({ actor: personActor(paula) }, [removal]), { code: '42501' })
  const theft = { name: 'steal', text: `update contact set name = 'Stolen' where id = $1 returning id`, values: [id] }
  assert.deepEqual(await access.as({ actor: personActor(ben) }, [theft]), [[]])
})

/** The names of the checks of records that find a fault. */
const faults = async (database: Database) =>
  (await verifyRecords(database)).flatMap(({ ok, name }) => (ok ? [] : [name]))

describe('verify finds', () => {
  for (const [what, statement] of [
    ['a contact that was removed', 'delete from contact where id = $1'],
    ['a contact whose address was changed', `update contact set email = 'thief@evil.example' where id = $1`],
  ] as const) {
    test(what, async () => {
      const path = await add(anna, await firm.client(anna), maria)
      const { database } = firm.service
      assert.deepEqual(await faults(database), [])
      const changed = statement.replace('$1', `'${path.split('/').at(-1)}'`)
      assert.deepEqual(await whileTampered(database, changed, faults), ['every record is its last revision'])
    })
  }
})
