import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService, personActor } from '../../src/access/actor.ts'
import type { Answer } from '../support/answer.ts'
import { openFirm, type Member } from '../support/firm.ts'
import { at } from '../support/json.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'

const { firm, anna, ben, paula } = openFirm()

const database = () => firm.service.database
const any = { 'if-match': '*' }
const codeOf = ({ status, json }: Answer) => [status, at(json, 'error', 'code')]

/** Starts a timer and returns its id. */
async function start(by: Member, client: string, body: object = {}): Promise<string> {
  const answer = await by.send('POST', `/clients/${client}/timer`, body)
  assert.equal(answer.status, 201, answer.text)
  return String(answer.json['id'])
}

async function timerOf(by: Member, known?: string): Promise<unknown> {
  const { status, json, text } = await by.get(known === undefined ? '/timer' : `/timer?known=${known}`)
  assert.equal(status, 200, text)
  return json['timer']
}

async function clear(...people: readonly Member[]): Promise<void> {
  await database().transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.proof', 'on', true)`)
    await tx.rows('delete from timer where person_id = any($1)', [people.map(({ id }) => id)])
  })
}

/** Lets a timer begin so much earlier. */
async function age(interval: string): Promise<void> {
  await database().transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.proof', 'on', true)`)
    await tx.rows('create policy aged on timer for update to current_user using (true)')
    await tx.rows('update timer set started_at = started_at - $1::interval', [interval])
    await tx.rows('drop policy aged on timer')
  })
}

const timersIn = () =>
  database().transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.proof', 'on', true)`)
    return tx.rows<{ person_id: string }>('select person_id from timer')
  })

describe('a timer', () => {
  test('runs once per person, by the clock of the database, until it is stopped, recorded and removed', async () => {
    const [client, other] = [await firm.client(anna, 'Berg'), await firm.client(anna, 'Adler')]
    assert.equal(await timerOf(anna), null)
    const id = await start(anna, client, { text: 'Letter: our offer' })
    const running = await timerOf(anna)
    assert.deepEqual(
      ['id', 'client', 'text', 'stopped_at', 'minutes'].map((name) => at(running, name)),
      [id, { id: client, name: 'Berg' }, 'Letter: our offer', null, 1],
    )
    for (const address of [client, other]) {
      assert.deepEqual(codeOf(await anna.send('POST', `/clients/${address}/timer`, {})), [409, 'conflict'])
    }
    await age('42 minutes 40 seconds')
    const seconds = at(await timerOf(anna), 'seconds')
    assert.ok(typeof seconds === 'number' && seconds >= 2560)
    const stopped = (await anna.send('POST', `/timer/${id}/stop`)).json
    assert.deepEqual([typeof stopped['stopped_at'], stopped['minutes']], ['string', 43])
    await age('1 hour')
    const again = (await anna.send('POST', `/timer/${id}/stop`)).json
    assert.equal(again['stopped_at'], stopped['stopped_at'], 'it stops once')
    assert.deepEqual(codeOf(await anna.send('POST', `/clients/${other}/timer`, {})), [409, 'conflict'])

    const entry = { date: '2026-03-12', minutes: 43, rate: '100', text: 'Our offer' }
    const key = { 'idempotency-key': id }
    const made = await anna.send('POST', `/clients/${client}/time_entries`, entry, key)
    const twice = await anna.send('POST', `/clients/${client}/time_entries`, { ...entry, text: 'On another page' }, key)
    assert.deepEqual([made.status, twice.json['id'], twice.json['text']], [201, made.json['id'], 'Our offer'])
    assert.equal((await anna.send('DELETE', `/timer/${id}`)).status, 204)
    assert.deepEqual(codeOf(await anna.send('DELETE', `/timer/${id}`)), [404, 'not_found'])
    assert.equal(await timerOf(anna), null)
    const events = await database().rows(
      `select action, outcome, noun from audit where client_id = $1 and action like 'timer%' and action <> 'timer_read' and outcome = 'allowed' order by id`,
      [client],
    )
    assert.deepEqual(events, [
      { action: 'timer_started', outcome: 'allowed', noun: 'client' },
      { action: 'timer_stopped', outcome: 'allowed', noun: 'client' },
      { action: 'timer_ended', outcome: 'allowed', noun: 'client' },
    ])
  })

  test('is started once by a retry, and by two requests at a time', async () => {
    const client = await firm.client(ben)
    const key = { 'idempotency-key': randomUUIDv7() }
    const first = await ben.send('POST', `/clients/${client}/timer`, { text: 'first' }, key)
    const retry = await ben.send('POST', `/clients/${client}/timer`, { text: 'again' }, key)
    assert.deepEqual([retry.status, retry.json['id'], retry.json['text']], [201, first.json['id'], 'first'])
    await clear(ben)
    const answers = await Promise.all([1, 2, 3].map(() => ben.send('POST', `/clients/${client}/timer`, {})))
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [201, 409, 409],
    )
    await clear(ben)
  })

  test('has a time of at most a day, and of at least a minute, also after the clock was set back', async () => {
    const id = await start(ben, await firm.client(ben))
    await age('-1 hour')
    assert.deepEqual([at(await timerOf(ben), 'seconds'), at(await timerOf(ben), 'minutes')], [0, 1])
    await age('3 days')
    assert.equal((await ben.send('POST', `/timer/${id}/stop`)).json['minutes'], 1440)
    await clear(ben)
  })

  test('is not told again to a page that knows it, which leaves no event', async () => {
    const client = await firm.client(ben, 'Secret')
    const id = await start(ben, client, { text: 'Secret work' })
    const looks = async () =>
      (await database().rows(`select from audit where client_id = $1 and action = 'timer_read'`, [client])).length
    const before = await looks()
    const answer = await ben.get(`/timer?known=${id}`)
    assert.doesNotMatch(answer.text, /Secret/)
    assert.equal(at(answer.json, 'timer', 'id'), id)
    assert.equal(await looks(), before)
    assert.match(JSON.stringify(await timerOf(ben, randomUUIDv7())), /Secret work/)
    assert.equal(await looks(), before + 1)
    await clear(ben)
  })

  test('is not for a client of someone else, nor for an archived one; its text is a line', async () => {
    const client = await firm.client(anna)
    assert.deepEqual(codeOf(await ben.send('POST', `/clients/${client}/timer`, {})), [403, 'forbidden'])
    assert.deepEqual(codeOf(await paula.send('POST', `/clients/${randomUUIDv7()}/timer`, {})), [404, 'not_found'])
    for (const text of ['two\nlines', 'x'.repeat(281), 7]) {
      const answer = await anna.send('POST', `/clients/${client}/timer`, { text })
      assert.deepEqual([...codeOf(answer), at(answer.json, 'error', 'field')], [400, 'invalid_field', 'text'])
    }
    await anna.send('PATCH', `/clients/${client}`, { status: 'archived' }, any)
    assert.deepEqual(codeOf(await anna.send('POST', `/clients/${client}/timer`, {})), [409, 'conflict'])
    assert.deepEqual(await timersIn(), [])
  })

  test('of another person cannot be read, stopped or removed, not even by a partner', async () => {
    const id = await start(anna, await firm.client(anna))
    for (const member of [ben, paula]) {
      assert.equal(await timerOf(member), null)
      assert.deepEqual(codeOf(await member.send('POST', `/timer/${id}/stop`)), [404, 'not_found'])
      assert.deepEqual(codeOf(await member.send('DELETE', `/timer/${id}`)), [404, 'not_found'])
      const actor = personActor({ id: member.id, role: member === paula ? 'partner' : 'consultant' })
      const statements = [`delete from timer`, `update timer set stopped_at = now()`].map((text) => ({
        name: text,
        text: `${text} returning id`,
        values: [],
      }))
      assert.deepEqual(await firm.service.records.access.as({ actor }, statements), [[], []])
    }
    assert.equal(at(await timerOf(anna), 'stopped_at'), null)
    await clear(anna)
  })
})

describe('a timer ends, without an entry and without access,', () => {
  const minutes = { date: '2026-03-12', minutes: 5, rate: '100', text: 'Secret work' }

  test('when the client is handed over; that of a partner runs on', async () => {
    const client = await firm.client(anna)
    const [id] = [await start(anna, client), await start(paula, client)]
    await paula.send('PATCH', `/clients/${client}`, { consultant_id: ben.id }, any)
    assert.equal(await timerOf(anna), null)
    assert.deepEqual(codeOf(await anna.send('POST', `/timer/${id}/stop`)), [404, 'not_found'])
    const recorded = await anna.send('POST', `/clients/${client}/time_entries`, minutes, { 'idempotency-key': id })
    assert.deepEqual(codeOf(recorded), [403, 'forbidden'])
    assert.deepEqual(await timersIn(), [{ person_id: paula.id }])
    // It does not come back with the client.
    await paula.send('PATCH', `/clients/${client}`, { consultant_id: anna.id }, any)
    assert.equal(await timerOf(anna), null)
    await clear(paula)
  })

  test('when the client is handed over while it is started', async () => {
    const [from, to] = [await firm.join('From', 'consultant'), await firm.join('To', 'consultant')]
    const client = await firm.client(from)
    const answers = await database().transaction(async (tx) => {
      // The new row waits for its person, with the client locked.
      await tx.rows('select from person where id = $1 for update', [from.id])
      const starting = from.send('POST', `/clients/${client}/timer`, {})
      await until(async () => (await waitingForLocks(database())) === 1)
      const handing = paula.send('PATCH', `/clients/${client}`, { consultant_id: to.id }, any)
      await until(async () => (await waitingForLocks(database())) === 2)
      return [starting, handing]
    })
    assert.deepEqual(
      (await Promise.all(answers)).map(({ status }) => status),
      [201, 200],
    )
    assert.deepEqual(await timersIn(), [])
  })

  test('when the client is deleted, for everyone', async () => {
    const client = await firm.client(anna)
    await start(anna, client)
    await start(paula, client)
    await paula.send('DELETE', `/clients/${client}`)
    assert.deepEqual([await timerOf(anna), await timerOf(paula)], [null, null])
    assert.deepEqual(await timersIn(), [])
  })

  test('when the person is disabled, and is not there when they are enabled again', async () => {
    const member = await firm.join('Disabled', 'consultant')
    const client = await firm.client(member)
    const id = await start(member, client)
    await firm.service.people.setStatus(member.id, 'disabled', byService)
    assert.deepEqual(await timersIn(), [])
    assert.equal((await member.get('/timer')).status, 401)
    const recorded = await member.send('POST', `/clients/${client}/time_entries`, minutes, { 'idempotency-key': id })
    assert.equal(recorded.status, 401)
    await firm.service.people.setStatus(member.id, 'active', byService)
    assert.deepEqual(await timersIn(), [])
    assert.deepEqual((await paula.get(`/clients/${client}/time_entries`)).json['time_entries'], [])
  })

  test('when a partner becomes a consultant', async () => {
    const member = await firm.join('Was partner', 'partner')
    await start(member, await firm.client(anna))
    await firm.service.people.setRole(member.id, 'consultant', byService)
    assert.deepEqual(await timersIn(), [])
  })
})
