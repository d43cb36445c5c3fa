import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { fixture } from '../support/fixture.ts'
import { startMailServer } from '../support/mail-server.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'

const mail = fixture(() => startMailServer())
const firm = fixture(() => startFirm({ mail: mail.url }))
const paula = fixture(() => firm.join('Paula', 'partner'))
const anna = fixture(() => firm.join('Anna', 'consultant'))

/** Creates the address of a member's calendar. Returns its path. */
async function addressOf(member: Member): Promise<string> {
  const { status, json, text } = await member.send('POST', '/me/calendar', {})
  assert.equal(status, 201, text)
  return new URL(String(json['address'])).pathname
}

/** As a calendar program does: without a cookie. */
const read = (address: string) => firm.ask('GET', address, { headers: { accept: '*/*' } })

async function add(by: Member, client: string, task: object): Promise<string> {
  const { status, json, text } = await by.send('POST', `/clients/${client}/tasks`, task)
  assert.equal(status, 201, text)
  return `/clients/${client}/tasks/${String(json['id'])}`
}

const summariesIn = (text: string) => Array.from(text.matchAll(/^SUMMARY:(.*)\r$/gm), ([, summary]) => summary)

async function refused(address: string): Promise<void> {
  const { status, text } = await read(address)
  assert.equal(status, 404)
  assert.ok(!text.includes('VCALENDAR'))
}

describe('the calendar of a person', () => {
  test('has the open tasks with a day that are theirs, as events of that day', async () => {
    const client = await firm.client(anna, 'Berg, Söhne; Co')
    const task = await add(anna, client, { title: 'Send the return', due: '2031-04-30', priority: 'high' })
    await add(anna, client, { title: 'some day' })
    const done = await add(anna, client, { title: 'done', due: '2031-04-29' })
    await anna.send('PATCH', done, { status: 'done' }, { 'if-match': '*' })
    await anna.send('DELETE', await add(anna, client, { title: 'archived', due: '2031-04-29' }))
    await add(paula, client, { title: 'for Paula', due: '2031-04-28', owner_id: paula.id })
    await add(paula, await firm.client(paula, 'Of Paula'), { title: 'of Paula', due: '2031-04-28' })

    for (const [invoice, due, state] of [
      ['INV-7', '2031-05-02', 'open'],
      ['settled', '2031-05-02', 'settled'],
      ['no day', null, 'open'],
    ]) {
      await anna.send('POST', `/clients/${client}/disputes`, { invoice, amount: '1', due, status: state })
    }

    const address = await addressOf(anna)
    const { status, headers, text } = await read(address)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/calendar; charset=utf-8')
    assert.match(headers.get('cache-control') ?? '', /no-store/)
    assert.deepEqual(summariesIn(text), [
      String.raw`Send the return (Berg\, Söhne\; Co)`,
      String.raw`Answer the dispute of INV-7 (Berg\, Söhne\; Co)`,
    ])
    for (const line of [
      'DTSTART;VALUE=DATE:20310430',
      'DTSTART;VALUE=DATE:20310502',
      'PRIORITY:1',
      'TRANSP:TRANSPARENT',
    ]) {
      assert.ok(text.includes(`\r\n${line}\r\n`), text)
    }
    assert.deepEqual(summariesIn((await read(await addressOf(paula))).text), [
      String.raw`for Paula (Berg\, Söhne\; Co)`,
      'of Paula (Of Paula)',
    ])
    const events = await firm.service.database.rows(
      `select action, outcome, noun_id from audit where person_id = $1 and action like 'calendar%' order by id`,
      [anna.id],
    )
    assert.deepEqual(events, [
      { action: 'calendar_created', outcome: 'allowed', noun_id: anna.id },
      { action: 'calendar_read', outcome: 'allowed', noun_id: anna.id },
    ])
    await until(() =>
      mail.mails.some(({ to, subject }) => to.includes(anna.email ?? '') && /new address/.test(subject)),
    )

    await paula.send('PATCH', `/clients/${client}`, { consultant_id: paula.id }, { 'if-match': '*' })
    assert.deepEqual(summariesIn((await read(address)).text), [], 'the client is no longer theirs')
    assert.equal((await anna.get(task)).status, 403)
  })

  test('is at an address that only its creation tells, one at a time', async () => {
    const cleo = await firm.join('Cleo', 'consultant')
    const calendarOf = async () => (await cleo.get('/me')).json['calendar']
    assert.equal(await calendarOf(), null)
    const first = await addressOf(cleo)
    const created = await calendarOf()
    assert.deepEqual(Object.keys(created ?? {}), ['created_at', 'read_at'], 'the page does not show the address')
    const second = await addressOf(cleo)
    await refused(first)
    assert.equal((await read(second)).status, 200)
    const [, , , secret = ''] = second.split('/')
    for (const other of [
      second.replace(cleo.id, anna.id),
      second.replace(secret, secret.slice(0, 42)),
      second.replace(secret, `${secret.startsWith('A') ? 'B' : 'A'}${secret.slice(1)}`),
      second.replace(cleo.id, 'nobody'),
      second.replace('.ics', ''),
      `/calendar/${cleo.id}/.ics`,
    ]) {
      await refused(other)
    }
    assert.equal((await cleo.send('DELETE', '/me/calendar')).status, 204)
    await refused(second)
    assert.equal((await cleo.send('DELETE', '/me/calendar')).status, 404)
  })

  test('cannot be planted with a row of the database', async () => {
    const [dora, emil] = [await firm.join('Dora', 'consultant'), await firm.join('Emil', 'consultant')]
    const address = await addressOf(dora)
    await firm.service.database.rows(
      'insert into calendar_feed (person_id, id) select $1, id from calendar_feed where person_id = $2',
      [emil.id, dora.id],
    )
    await refused(address.replace(dora.id, emil.id))
  })

  test('leaves no address if all sessions end while one is created', async () => {
    const member = await firm.join('Gita', 'consultant')
    const { database } = firm.service
    const { creating, ending } = await database.transaction(async (tx) => {
      await tx.rows('lock table calendar_feed in exclusive mode')
      const first = member.send('POST', '/me/calendar', {})
      await until(async () => (await waitingForLocks(database)) === 1)
      const second = paula.send('DELETE', `/people/${member.id}/sessions`)
      await until(async () => (await waitingForLocks(database)) === 2)
      return { creating: first, ending: second }
    })
    assert.equal((await ending).status, 200)
    assert.equal((await creating).status, 201)
    assert.deepEqual(await database.rows('select from calendar_feed where person_id = $1', [member.id]), [])
  })

  test('needs a recent sign-in, and a role that has tasks', async () => {
    const old = await firm.join('Olga', 'consultant')
    await firm.service.database.rows(
      `update session set proven_at = proven_at - interval '11 minutes' where person_id = $1`,
      [old.id],
    )
    assert.equal((await old.send('POST', '/me/calendar', {})).status, 403)
    const developer = await firm.join('Dev', 'developer')
    assert.equal((await developer.send('POST', '/me/calendar', {})).status, 403)
    const rows = await firm.service.database.rows(
      'select person_id from calendar_feed where person_id = any($1::uuid[])',
      [[old.id, developer.id]],
    )
    assert.deepEqual(rows, [])
  })

  test('ends for good with what ends the sessions of its person, and stays if they sign out', async () => {
    for (const [what, end] of [
      ['disabled', ({ id }: Member) => firm.service.people.setStatus(id, 'disabled', byService)],
      ['another role', ({ id }: Member) => paula.send('PATCH', `/people/${id}`, { role: 'developer' })],
      ['signed out everywhere', (member: Member) => member.send('DELETE', '/me/sessions')],
      ['signed out by a partner', ({ id }: Member) => paula.send('DELETE', `/people/${id}/sessions`)],
    ] as const) {
      const member = await firm.join(what, 'consultant')
      const address = await addressOf(member)
      assert.equal((await read(address)).status, 200)
      await end(member)
      await refused(address)
      await firm.service.people.setStatus(member.id, 'active', byService)
      await refused(address)
    }
    const member = await firm.join('Frida', 'consultant')
    const address = await addressOf(member)
    assert.ok((await member.send('POST', '/signout')).status < 400)
    assert.equal((await member.get('/me')).status, 401)
    assert.equal((await read(address)).status, 200)
  })
})
