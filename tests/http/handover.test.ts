import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { importClients } from '../../src/clients/import/import.ts'
import type { Answer } from '../support/answer.ts'
import { at, objectAt } from '../support/json.ts'
import { until } from '../support/until.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { fixture } from '../support/fixture.ts'

const firm = fixture(() => startFirm())
const partner = fixture(() => firm.join('Partner', 'partner'))

const handOver = (by: Member, from: string, to: string) => by.send('POST', `/people/${from}/handover`, { to })
const preview = (by: Member, from: string, to?: string) =>
  by.get(`/people/${from}/handover${to === undefined ? '' : `?to=${to}`}`)

const select = (by: Member, to: string, clients: readonly object[]) =>
  by.send('POST', '/clients/handover', { clients, to })
const inVersion = (id: string, version = 1) => ({ id, version })

async function clientsOf(member: Member): Promise<string[]> {
  const { clients } = (await member.get('/clients?status=all')).json
  return Array.isArray(clients) ? clients.map((each) => String(at(each, 'name'))) : assert.fail()
}

async function make(of: Member, name: string, reference?: string): Promise<string> {
  const { json, text } = await of.send('POST', '/clients', { name, ...(reference !== undefined && { reference }) })
  assert.ok(typeof json['id'] === 'string', text)
  return json['id']
}

const assignTo = (to: string, id: string) =>
  partner.send('PATCH', `/clients/${id}`, { consultant_id: to }, { 'if-match': '*' })

/** Imports a file with a client of each. */
async function importFor(...members: readonly Member[]) {
  const { people, records } = firm.service
  const lines = members.map(({ email }) => `New,${email ?? ''}`)
  const file = Buffer.from(['name,consultant', ...lines].join('\n'))
  const { imported, faults } = await importClients({ access: records.access, people }, byService, file)
  return { status: imported > 0 ? 201 : 400, text: JSON.stringify(faults) }
}

/** Waits until so many requests wait for a lock. */
const waiting = (count: number) =>
  until(async () => {
    const rows = await firm.service.database.rows(
      `select 1 from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
    )
    return rows.length >= count
  })

async function pair(): Promise<[Member, Member]> {
  return [await firm.join('Leaving', 'consultant'), await firm.join('Staying', 'consultant')]
}

describe('B101: handing over', () => {
  test('assigns all clients of a person, archived ones too, each with its revision and its audit row', async () => {
    const [leaving, staying] = await pair()
    const ids = [await make(leaving, 'Berg'), await make(leaving, 'Adler'), await make(leaving, 'Old')]
    const deleted = await make(leaving, 'Deleted')
    const any = { 'if-match': '*' }
    await partner.send('PATCH', `/clients/${ids[2]}`, { status: 'archived' }, any)
    await partner.send('DELETE', `/clients/${deleted}`, undefined, any)
    const shown = await preview(partner, leaving.id, staying.id)
    assert.deepEqual(
      { ...shown.json, clients: namesIn(shown.json['clients']) },
      { active: 2, archived: 1, clients: ['Adler', 'Berg', 'Old'], conflicts: [] },
    )
    assert.deepEqual(await clientsOf(staying), [], 'a preview changes nothing')

    const done = await handOver(partner, leaving.id, staying.id)
    assert.deepEqual([done.status, done.json], [200, { handed_over: 3 }], done.text)
    assert.deepEqual([await clientsOf(leaving), await clientsOf(staying)], [[], ['Adler', 'Berg', 'Old']])
    assert.deepEqual(
      await saidIn(done),
      ids.toSorted().map((id) => `client_assigned allowed ${partner.id} ${id}`),
    )
    const { revisions } = (await staying.get(`/clients/${ids[0]}/revisions`)).json
    assert.equal(at(revisions, 0, 'by', 'id'), partner.id)
    assert.equal(at(revisions, 0, 'data', 'consultant', 'name'), 'Staying')
    assert.equal((await leaving.get(`/clients/${ids[0]}`)).status, 403)
    assert.deepEqual((await preview(partner, leaving.id)).json, { active: 0, archived: 0, clients: [], conflicts: [] })
    assert.deepEqual((await handOver(partner, leaving.id, staying.id)).json, { handed_over: 0 })
  })

  test('assigns no client if both people have one with the same reference', async () => {
    const [leaving, staying] = await pair()
    await make(leaving, 'One', 'A-1')
    await make(leaving, 'Two', 'b-2')
    await make(staying, 'Other', 'B-2')
    const shown = await preview(partner, leaving.id, staying.id)
    assert.deepEqual(namesIn(shown.json['conflicts']), ['Two'])
    const refused = await handOver(partner, leaving.id, staying.id)
    assert.deepEqual([refused.status, refused.error['code']], [409, 'conflict'])
    assert.match(String(refused.error['reason']), /references: b-2\./)
    assert.deepEqual([await clientsOf(leaving), await clientsOf(staying)], [['One', 'Two'], ['Other']])
  })

  test('is refused to someone who is not active, and to the same person', async () => {
    const [leaving, gone] = await pair()
    await make(leaving, 'Kept')
    await firm.service.people.setStatus(gone.id, 'disabled', { actor: { kind: 'service' } })
    for (const to of [gone.id, leaving.id, 'x', '01a1fde9-640a-7d47-911d-f32ac54c1c8c']) {
      const refused = await handOver(partner, leaving.id, to)
      assert.deepEqual([refused.status, refused.error['field']], [400, 'to'], refused.text)
    }
    assert.deepEqual(await clientsOf(leaving), ['Kept'])
    assert.equal((await handOver(partner, '01a1fde9-640a-7d47-911d-f32ac54c1c8c', leaving.id)).status, 404)
  })

  test('of the same clients by two partners at once moves each client once', async () => {
    const [leaving, staying] = await pair()
    const other = await firm.join('Partner', 'partner')
    for (let n = 0; n < 10; n++) await make(leaving, `Client ${n}`)
    const replies = await Promise.all([
      handOver(partner, leaving.id, staying.id),
      handOver(other, leaving.id, partner.id),
    ])
    const moved = replies.map(({ json }) => Number(json['handed_over'])).toSorted((a, b) => a - b)
    assert.deepEqual(moved, [0, 10])
    assert.deepEqual(await clientsOf(leaving), [])
  })

  for (const [what, assign] of [
    ['a hand-over', (from: Member, to: Member) => handOver(partner, from.id, to.id)],
    [
      'a hand-over of selected clients',
      (_from: Member, to: Member, id: string) => select(partner, to.id, [inVersion(id)]),
    ],
    ['an assignment', (_from: Member, to: Member, id: string) => assignTo(to.id, id)],
    ['a new client', (_from: Member, to: Member) => to.send('POST', '/clients', { name: 'New' })],
    ['an import', (from: Member, to: Member) => importFor(from, to)],
  ] as const) {
    test(`${what} and a deletion of the person at once leave no client with someone who is gone`, async () => {
      const { database } = firm.service
      for (const isFirst of [true, false]) {
        const [leaving, staying] = await pair()
        const id = await make(leaving, 'Berg')
        await database.rows(
          `insert into password (person_id, hash, changed_at) values ($1, '$argon2id$', '2026-03-12')`,
          [staying.id],
        )
        const assigned = () => assign(leaving, staying, id)
        const deleted = () => partner.send('DELETE', `/people/${staying.id}`)
        // The assignment waits when it is made and before it commits, the deletion after it has counted the clients.
        const hold = isFirst ? 'person where id = $1 for update' : 'password where person_id = $1 for update'
        const { both } = await database.transaction(async (tx) => {
          await tx.rows(`select 1 from ${hold}`, [staying.id])
          const first = isFirst ? assigned() : deleted()
          await waiting(1)
          const second = isFirst ? deleted() : assigned()
          await waiting(2)
          return { both: Promise.all(isFirst ? [first, second] : [second, first]) }
        })
        const [assignment, deletion] = await both
        assert.equal(deletion.status, isFirst ? 409 : 204, deletion.text)
        assert.equal(assignment.status < 300, isFirst, assignment.text)
        const [row] = await database.rows<{ gone: boolean }>(
          'select deleted_at is not null as gone from person where id = $1',
          [staying.id],
        )
        const count = await firm.service.records.handover.count(byService, staying.id)
        assert.deepEqual([row?.gone, count], isFirst ? [false, 1] : [true, 0])
      }
    })
  }

  test('and its preview are for partners', async () => {
    const [leaving, staying] = await pair()
    await make(leaving, 'Secret-marker')
    for (const reply of [
      await preview(staying, leaving.id),
      await preview(leaving, leaving.id),
      await handOver(staying, leaving.id, staying.id),
    ]) {
      assert.equal(reply.status, 403)
      assert.ok(!reply.text.includes('Secret-marker'))
    }
    assert.deepEqual(await clientsOf(leaving), ['Secret-marker'])
  })
})

describe('handing over selected clients', () => {
  test('assigns those, of several people, each with its revision and its audit row', async () => {
    const [leaving, staying] = await pair()
    const other = await firm.join('Other', 'consultant')
    const ids = [await make(leaving, 'Adler'), await make(other, 'Berg'), await make(staying, 'Own')]
    await make(leaving, 'Kept')
    await partner.send('PATCH', `/clients/${ids[1]}`, { status: 'archived' }, { 'if-match': '*' })
    const done = await select(partner, staying.id, [
      inVersion(ids[0] ?? ''),
      inVersion(ids[1] ?? '', 2),
      inVersion(ids[2] ?? ''),
      inVersion(ids[2] ?? ''),
    ])
    assert.deepEqual([done.status, done.json], [200, { handed_over: 2 }], done.text)
    assert.deepEqual(await clientsOf(staying), ['Adler', 'Berg', 'Own'])
    assert.deepEqual([await clientsOf(leaving), await clientsOf(other)], [['Kept'], []])
    assert.deepEqual(
      await saidIn(done),
      ids
        .slice(0, 2)
        .toSorted()
        .map((id) => `client_assigned allowed ${partner.id} ${id}`),
    )
    const { revisions } = (await staying.get(`/clients/${ids[0]}/revisions`)).json
    assert.deepEqual(
      [at(revisions, 0, 'by', 'id'), at(revisions, 0, 'data', 'consultant', 'name')],
      [partner.id, 'Staying'],
    )
    assert.equal((await staying.get(`/clients/${ids[2]}`)).json['version'], 1, 'a client of the person is not changed')
    assert.equal((await leaving.get(`/clients/${ids[0]}`)).status, 403)
  })

  test('assigns none if one has changed, and says which and whose it is now', async () => {
    const [leaving, staying] = await pair()
    const ids = [await make(leaving, 'Adler'), await make(leaving, 'Berg')]
    await partner.send('PATCH', `/clients/${ids[1]}`, { consultant_id: partner.id }, { 'if-match': '*' })
    const refused = await select(
      partner,
      staying.id,
      ids.map((id) => inVersion(id)),
    )
    assert.deepEqual([refused.status, refused.error['code']], [412, 'stale_version'])
    assert.match(String(refused.error['reason']), /selected them: Berg\. Nothing/)
    const { clients } = objectAt(refused.json, 'current')
    assert.deepEqual(clients, [
      {
        id: ids[1],
        name: 'Berg',
        reference: null,
        status: 'active',
        version: 2,
        consultant: { id: partner.id, name: partner.name },
      },
    ])
    assert.deepEqual([await clientsOf(staying), await clientsOf(leaving)], [[], ['Adler']])
    assert.deepEqual(await saidIn(refused), [`client_assigned refused ${partner.id}`])
  })

  test('assigns none if one does not exist or is deleted, without saying which', async () => {
    const [leaving, staying] = await pair()
    const [kept, deleted] = [await make(leaving, 'Kept'), await make(leaving, 'Deleted')]
    await partner.send('DELETE', `/clients/${deleted}`, undefined, { 'if-match': '*' })
    const refusals = new Set<string>()
    for (const bad of [deleted, 'x', '01a1fde9-640a-7d47-911d-f32ac54c1c8c', leaving.id]) {
      const refused = await select(partner, staying.id, [inVersion(kept), inVersion(bad)])
      assert.deepEqual([refused.status, refused.error['field']], [400, 'clients'], refused.text)
      refusals.add(String(refused.error['reason']))
    }
    assert.equal(refusals.size, 1)
    assert.deepEqual([await clientsOf(staying), await clientsOf(leaving)], [[], ['Kept']])
  })

  test('assigns none if a consultant would have a reference twice', async () => {
    const [leaving, staying] = await pair()
    const other = await firm.join('Other', 'consultant')
    const first = await make(leaving, 'One', 'A-1')
    const second = await make(other, 'Two', 'a-1')
    const third = await make(other, 'Three', 'C-3')
    for (const ids of [
      [first, second],
      [first, second, third],
    ]) {
      const refused = await select(
        partner,
        staying.id,
        ids.map((id) => inVersion(id)),
      )
      assert.deepEqual([refused.status, refused.error['code'], refused.error['field']], [409, 'conflict', 'clients'])
      assert.match(String(refused.error['reason']), /references: (?:A-1, a-1|a-1, A-1)\./)
    }
    await make(staying, 'Four', 'c-3')
    const refused = await select(partner, staying.id, [inVersion(third)])
    assert.match(String(refused.error['reason']), /references: C-3\./)
    assert.deepEqual(await clientsOf(staying), ['Four'])
  })

  test('is refused to someone who is not active, and without a selection or with too large a one', async () => {
    const [leaving, gone] = await pair()
    const id = await make(leaving, 'Kept')
    await firm.service.people.setStatus(gone.id, 'disabled', { actor: { kind: 'service' } })
    for (const to of [gone.id, 'x']) {
      const refused = await select(partner, to, [inVersion(id)])
      assert.deepEqual([refused.status, refused.error['field']], [400, 'to'], refused.text)
    }
    for (const clients of [[], Array.from({ length: 1001 }, () => inVersion(id)), [{ id }], [inVersion(id, 0)]]) {
      const refused = await select(partner, partner.id, clients)
      assert.equal(refused.status, 400)
      assert.match(String(refused.error['field']), /^clients/)
    }
    assert.deepEqual(await clientsOf(leaving), ['Kept'])
  })

  test('of the same clients by two partners at once moves each client once', async () => {
    const [leaving, staying] = await pair()
    const other = await firm.join('Partner', 'partner')
    const clients: object[] = []
    for (let n = 0; n < 10; n++) clients.push(inVersion(await make(leaving, `Client ${n}`)))
    const replies = await Promise.all([
      select(partner, staying.id, clients),
      select(other, partner.id, clients.toReversed()),
    ])
    assert.deepEqual(
      replies.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 412],
    )
    assert.equal((await clientsOf(staying)).length, replies[0].status === 200 ? 10 : 0)
    assert.deepEqual(await clientsOf(leaving), [])
  })

  test('is for partners: a consultant gets the same refusal for own, foreign and unknown clients', async () => {
    const [leaving, staying] = await pair()
    const [own, foreign] = [await make(staying, 'Own'), await make(leaving, 'Secret-marker')]
    const texts = new Set<string>()
    for (const id of [own, foreign, '01a1fde9-640a-7d47-911d-f32ac54c1c8c']) {
      const refused = await select(staying, staying.id, [inVersion(id)])
      assert.equal(refused.status, 403)
      assert.deepEqual(await saidIn(refused), [`access_denied refused ${staying.id}`])
      texts.add(refused.text.replace(refused.headers.get('request-id') ?? '', ''))
    }
    assert.equal(texts.size, 1)
    assert.deepEqual([await clientsOf(leaving), await clientsOf(staying)], [['Secret-marker'], ['Own']])
  })
})

/** The audit rows of a request, in order. */
async function saidIn({ headers }: Answer): Promise<string[]> {
  const rows = await firm.service.database.rows<{ said: string }>(
    `select concat_ws(' ', action, outcome, person_id, client_id) as said from audit where request_id = $1 order by client_id`,
    [headers.get('request-id')],
  )
  return rows.map(({ said }) => said)
}

function namesIn(clients: unknown): string[] {
  return Array.isArray(clients) ? clients.map((each) => String(at(each, 'name'))) : assert.fail()
}
