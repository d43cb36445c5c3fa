import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { at } from '../support/json.ts'
import { startFirm, type Firm, type Member } from '../support/firm.ts'

let firm: Firm
let partner: Member

before(async () => {
  firm = await startFirm()
  partner = await firm.join('Partner', 'partner')
})
after(() => firm.close())

const handOver = (by: Member, from: string, to: string) => by.send('POST', `/people/${from}/handover`, { to })
const preview = (by: Member, from: string, to?: string) =>
  by.get(`/people/${from}/handover${to === undefined ? '' : `?to=${to}`}`)

async function clientsOf(member: Member): Promise<string[]> {
  const { clients } = (await member.get('/clients?status=all')).json
  return Array.isArray(clients) ? clients.map((each) => String(at(each, 'name'))) : assert.fail()
}

async function make(of: Member, name: string, reference?: string): Promise<string> {
  const { json, text } = await of.send('POST', '/clients', { name, ...(reference !== undefined && { reference }) })
  assert.ok(typeof json['id'] === 'string', text)
  return json['id']
}

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
    const rows = await firm.service.database.rows<{ said: string }>(
      `select concat_ws(' ', action, outcome, person_id, client_id) as said from audit where request_id = $1`,
      [done.headers.get('request-id')],
    )
    assert.deepEqual(
      rows.map(({ said }) => said).toSorted(),
      ids.map((id) => `client_assigned allowed ${partner.id} ${id}`).toSorted(),
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

function namesIn(clients: unknown): string[] {
  return Array.isArray(clients) ? clients.map((each) => String(at(each, 'name'))) : assert.fail()
}
