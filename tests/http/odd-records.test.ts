import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startFirm, type Firm, type Member } from '../support/firm.ts'

let firm: Firm
let partner: Member
before(async () => {
  firm = await startFirm()
  partner = await firm.join('Partner', 'partner')
})
after(() => firm.close())

test('names of which one character sorts as eighteen end no list', async () => {
  const names = ['\u{fdfa}'.repeat(200), '\u{20000}'.repeat(200), `0${'\u{fdfa}'.repeat(199)}`, 'Last']
  for (const name of names) {
    assert.equal((await partner.send('POST', '/clients', { name, consultant_id: partner.id })).status, 201)
  }
  const seen: unknown[] = []
  for (let next: unknown = ''; next !== null;) {
    const page = await partner.get(`/clients?limit=1${next === '' ? '' : `&cursor=${String(next)}`}`)
    assert.equal(page.status, 200, page.text.slice(0, 300))
    const { clients } = page.json
    assert.ok(Array.isArray(clients))
    seen.push(...clients.map((client: { name?: unknown }) => client.name))
    next = page.json['next']
  }
  assert.deepEqual(seen.toSorted(), names.toSorted())
})

test('a day that PostgreSQL does not know is refused by its field', async () => {
  const id = await firm.client(partner)
  for (const date of ['0000-01-01', '2026-02-30', '10000-01-01']) {
    const refusal = await partner.send('POST', `/clients/${id}/notes`, { date, text: 'x' })
    assert.deepEqual([refusal.status, refusal.error['field']], [400, 'date'], refusal.text)
  }
  assert.equal((await partner.send('POST', `/clients/${id}/notes`, { date: '0001-01-01', text: 'x' })).status, 201)
})

test('the role of a partner reaches nothing for somebody who is none any more', async () => {
  await firm.client(partner)
  const former = await firm.join('Former', 'partner')
  const reach = () =>
    firm.service.records.access.as({ person: former }, [
      { name: 'reach of a partner', text: 'select (select count(*) from client) + (select count(*) from audit) as n' },
    ])
  const [[before]] = await reach()
  assert.ok(Number((before as { n: bigint }).n) > 0)
  await firm.service.people.setStatus(former.id, 'disabled')
  const [[afterwards]] = await reach()
  assert.equal(Number((afterwards as { n: bigint }).n), 0)
})
