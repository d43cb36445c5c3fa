import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { byService, personActor } from '../../src/access/actor.ts'
import { draftingSettings, eventsOf, lettersOf, objectsAt, openDrafting } from '../support/drafting.ts'
import { fixture } from '../support/fixture.ts'
import { at, valuesOf } from '../support/json.ts'
import { startService } from '../support/service.ts'
import { tamper } from '../support/tamper.ts'
import { until } from '../support/until.ts'

const { vendor, firm, anna, record, holdBack, rows, draftsOf } = openDrafting()
const ben = fixture(() => firm.join('Ben', 'consultant'))
const paula = fixture(() => firm.join('Paula', 'partner'))
const byPaula = () => ({ actor: personActor(paula) })

/** What the ledger says of a request. */
const charges = (id: string) =>
  rows('select person_id, client_id, stop_reason, cost > 0 as paid from ledger where request_id = $1', [id])

/** What a draft has become. */
const ended = async (drafts: string, id: string) => {
  await until(async () => (await draftsOf(drafts)).every(({ status }) => status !== 'running'))
  return (await draftsOf(drafts)).find((draft) => draft['id'] === id)
}

describe('a letter that is being written', () => {
  it('B96 is stopped from another instance, and is what was written by then', async () => {
    const databaseUrl = firm.service.databaseUrl
    await using other = await startService({ ...draftingSettings(vendor.url), databaseUrl })
    const its = await record()
    const { id, answer } = await holdBack(its)
    const stopped = await fetch(`${other.url}${its.drafts}/${id}/stop`, {
      method: 'POST',
      headers: { cookie: anna.cookie, 'sec-fetch-site': 'same-origin' },
    })
    assert.equal(stopped.status, 202, await stopped.text())
    const ending = eventsOf(await answer).at(-1)
    assert.equal(ending?.name, 'done')
    assert.deepEqual([at(ending.data, 'draft', 'status'), at(ending.data, 'letter', 'body')], ['stopped', 'Hello'])
    assert.deepEqual(await charges(id), [
      { person_id: anna.id, client_id: its.client, stop_reason: 'cancelled', paid: true },
    ])
  })

  it('B96 is finished after its author signs out, who receives no more of it', async () => {
    const author = await firm.join('Carla', 'consultant')
    const its = await record('A fee.', author)
    const { id, answer, letOn } = await holdBack(its, { by: author })
    await firm.service.sessions.endOf(author.cookie, {})
    const events = eventsOf(await answer)
    assert.deepEqual(valuesOf(events, 'name'), ['started', 'delta', 'error'])
    assert.deepEqual([at(events[2]?.data, 'error', 'code'), at(events[2]?.data, 'draft')], ['not_signed_in', null])
    letOn()
    assert.deepEqual(await ended(its.drafts, id), { id, status: 'complete', failure: null, letter_id: id })
    const [letter] = await lettersOf(paula, its)
    assert.deepEqual([letter?.['body'], at(letter, 'created_by', 'id')], ['Hello there.', author.id])
    assert.deepEqual(valuesOf(await charges(id), 'stop_reason'), ['complete'])
  })

  it('B96 ends when its author is disabled, and nothing is kept but the charge', async () => {
    const author = await firm.join('Dora', 'consultant')
    const its = await record('A fee.', author)
    const { id, answer } = await holdBack(its, { by: author })
    await firm.service.people.setStatus(author.id, 'disabled', byService)
    assert.equal(eventsOf(await answer).at(-1)?.name, 'error')
    assert.deepEqual(await ended(its.drafts, id), { id, status: 'failed', failure: 'forbidden', letter_id: null })
    assert.deepEqual(await charges(id), [
      { person_id: author.id, client_id: its.client, stop_reason: 'cancelled', paid: true },
    ])
    assert.deepEqual(await lettersOf(paula, its), [])
    const costs = (await paula.get(`/clients/${its.client}/costs`)).json
    assert.notEqual(costs['total'], '0')
    assert.equal(costs['not_kept'], costs['total'])
  })

  it('B96 ends when its client is given to someone else, and nothing is kept but the charge', async () => {
    const its = await record()
    const { id, answer } = await holdBack(its)
    const cutBefore = vendor.abandoned
    await firm.service.records.clients.change(byPaula(), its.client, { basis: null, body: { consultant_id: ben.id } })
    const ending = eventsOf(await answer).at(-1)
    assert.deepEqual([at(ending?.data, 'error', 'code'), at(ending?.data, 'draft')], ['forbidden', null])
    await until(() => vendor.abandoned > cutBefore)
    assert.deepEqual(await ended(its.drafts, id), { id, status: 'failed', failure: 'forbidden', letter_id: null })
    assert.deepEqual(await charges(id), [
      { person_id: anna.id, client_id: its.client, stop_reason: 'cancelled', paid: true },
    ])
    assert.deepEqual(await lettersOf(ben, its), [])
    const costs = (await ben.get(`/clients/${its.client}/costs`)).json
    assert.deepEqual([costs['not_kept'], costs['by_api'], costs['by_letter']], [costs['total'], '0', []])
  })

  it('B96 is charged and not kept if its client is archived meanwhile', async () => {
    const its = await record()
    const { id, answer, letOn } = await holdBack(its)
    await firm.service.records.clients.change(byPaula(), its.client, { basis: null, body: { status: 'archived' } })
    letOn()
    const ending = eventsOf(await answer).at(-1)
    assert.equal(at(ending?.data, 'error', 'code'), 'conflict')
    assert.match(String(at(ending?.data, 'error', 'reason')), /archived.*charged/)
    assert.deepEqual(await ended(its.drafts, id), { id, status: 'failed', failure: 'conflict', letter_id: null })
    assert.equal((await charges(id)).length, 1)
    assert.deepEqual(await lettersOf(anna, its), [])
  })

  it('B96 becomes another letter if the one to write anew is changed, approved or archived meanwhile', async () => {
    const changes = [
      (letter: string) => anna.send('PATCH', letter, { body: 'Mine.' }, { 'if-match': '"1"' }),
      (letter: string) => anna.send('PATCH', letter, { status: 'approved' }, { 'if-match': '"1"' }),
      (letter: string) => anna.send('DELETE', letter),
    ]
    for (const change of changes) {
      const its = await record()
      const letters = `/clients/${its.client}/letters`
      const first = await anna.send('POST', letters, { subject: 'Ours', body: 'First.' })
      const letter = String(first.json['id'])
      const { id, answer, letOn } = await holdBack(its, { body: { letter } })
      const changed = await change(`${letters}/${letter}`)
      assert.ok(changed.status < 300, changed.text)
      const before = await rows('select * from letter where id = $1', [letter])
      letOn()
      assert.equal(at(eventsOf(await answer).at(-1)?.data, 'letter', 'id'), id)
      assert.deepEqual(await rows('select * from letter where id = $1', [letter]), before)
    }
  })

  it('has U+FFFD for a NUL of the model, which no letter can have', async () => {
    const its = await record()
    vendor.set({ text: 'a\0\0b \\u0000 \\\0' })
    const { status, text, json } = await anna.send('POST', its.drafts, { instructions: 'Write.', notes: [its.note] })
    vendor.set({})
    assert.equal(status, 200, text)
    assert.equal(at(json, 'letter', 'body'), 'a\ufffd\ufffdb \\u0000 \\\ufffd')
  })
})

/** Inserts a draft that was never charged, as of a process that ended. Returns its id. */
async function abandoned(its: { client: string; drafts: string }, author: string): Promise<string> {
  const [draft] = await rows(
    `insert into draft (id, client_id, created_by, created_at, instructions, sources, model, subject)
     values (gen_random_uuid(), $1, $2, now() - interval '2 minutes', 'Write.', '[]', 'fast', 'x') returning id`,
    [its.client, author],
  )
  return String(draft?.['id'])
}
const interrupted = (id: string) => ({ id, status: 'failed', failure: 'interrupted', letter_id: null })

describe('recovery', () => {
  it('B96 ends the drafts of anyone that were never charged', async () => {
    const gone = await firm.join('Emil', 'consultant')
    const [hers, his] = [await record(), await record('A fee.', gone)]
    await firm.service.people.setStatus(gone.id, 'disabled', byService)
    const ids = [await abandoned(hers, anna.id), await abandoned(his, gone.id)] as const
    assert.deepEqual(await ended(hers.drafts, ids[0]), interrupted(ids[0]))
    assert.deepEqual(await ended(his.drafts, ids[1]), interrupted(ids[1]))
    const noted = await rows(
      `select actor, outcome, details from audit where action = 'draft_failed' and noun_id = any ($1::uuid[])`,
      [`{${ids.join(',')}}`],
    )
    const by = { actor: 'service', outcome: 'allowed', details: { failure: 'interrupted' } }
    assert.deepEqual(noted, [by, by])
  })

  it('B96 ends the charged drafts of a disabled person without a letter, and one that fails holds up no other', async () => {
    const gone = await firm.join('Fritz', 'consultant')
    const [stuck, his] = [await record(), await record('A fee.', gone)]
    const ids: string[] = []
    // Blank: charged, and without a letter.
    vendor.set({ text: ' ' })
    for (const [its, by] of [
      [stuck, anna],
      [his, gone],
    ] as const) {
      const answer = await by.send('POST', its.drafts, { instructions: 'Write.', notes: [its.note] })
      assert.deepEqual([at(answer.json, 'draft', 'status'), answer.json['letter']], ['complete', null])
      ids.push(String(at(answer.json, 'draft', 'id')))
    }
    vendor.set({})
    const [first = '', second = ''] = ids
    await firm.service.people.setStatus(gone.id, 'disabled', byService)
    // The older one cannot be read, as a bug might have it.
    await tamper(
      firm.service.database,
      `with broken as (update idempotency set body = '{' where key = '${first}')
       update draft set status = 'running', finished_at = null, created_at = created_at - interval '1 minute'
       where id in ('${first}', '${second}')`,
    )
    const drafted = async () => (await draftsOf(his.drafts)).find(({ id }) => id === second)
    await until(async () => (await drafted())?.['status'] !== 'running')
    assert.deepEqual(await drafted(), { id: second, status: 'failed', failure: 'forbidden', letter_id: null })
    assert.deepEqual(await lettersOf(paula, his), [])
    await tamper(
      firm.service.database,
      `update idempotency set body = '{"output_text":"Late."}' where key = '${first}'`,
    )
    // So that `verify` takes it for the reply that was stored.
    await tamper(firm.service.database, `update idempotency i set digest = reply_digest(i) where key = '${first}'`)
    await until(async () => (await lettersOf(anna, stuck)).length === 1)
    const [letter] = await lettersOf(anna, stuck)
    assert.deepEqual([letter?.['id'], letter?.['body'], at(letter, 'created_by', 'id')], [first, 'Late.', anna.id])
    assert.equal(objectsAt((await anna.get(stuck.drafts)).json, 'drafts')[0]?.['status'], 'complete')
  })
})
