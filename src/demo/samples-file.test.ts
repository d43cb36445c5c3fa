import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createTestEngine, promptOf } from '../../tests/support/engine.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { demoPeople } from './people.ts'
import { datesIn, dayBefore } from './sample-dates.ts'
import { readSamples, type SampleClient } from './samples-file.ts'

const now = new Date('2026-11-21T23:30:00Z')
const today = '2026-11-21'

/** All samples, by person. */
async function readAll(at: Date): Promise<Map<string, SampleClient[]>> {
  const read = demoPeople.map(async ({ subject }) => [subject, await readSamples(subject, at)] as const)
  return new Map(await Promise.all(read))
}

const samples = await readAll(now)
const clients = [...samples.values()].flat()
const bodies = <Body>(entered: readonly { readonly body: Body }[]) => entered.map(({ body }) => body)
const notesOf = (all: readonly SampleClient[]) => all.flatMap((client) => bodies(client.notes))
const notes = notesOf(clients)
const texts = clients.flatMap((client) => [
  ...bodies(client.notes).map(({ text }) => text),
  ...bodies(client.disputes).flatMap(({ invoice, position }) => [invoice, position]),
  ...bodies(client.letters).flatMap(({ subject, body }) => [subject, body]),
  ...bodies(client.tasks).map(({ title }) => title),
])

type Stated = {
  readonly body: { readonly status: string }
  readonly later?: { readonly body: { readonly status?: string } }
}
const states = (items: readonly Stated[]) =>
  [...new Set(items.map(({ body, later }) => later?.body.status ?? body.status))].toSorted()
const week = (date: string) => new Date(Date.parse(date) + 7 * 86_400_000).toISOString().slice(0, 10)

describe('the samples', () => {
  test('are 40 active clients of three people and a few archived ones', () => {
    const counted = [...samples].map(([subject, all]) => {
      const archived = all.filter(({ archivedAt }) => archivedAt !== undefined).length
      return [subject, all.length - archived, archived]
    })
    assert.deepEqual(counted, [
      ['ruth', 5, 1],
      ['daniel', 18, 1],
      ['mei', 17, 1],
    ])
  })

  test('have unique names and references, and reserved email addresses', () => {
    for (const part of ['name', 'reference', 'email'] as const) {
      assert.equal(new Set(clients.map((client) => client[part])).size, clients.length, part)
    }
    assert.deepEqual(
      clients.filter(({ email }) => !email.endsWith('.example')),
      [],
    )
  })

  test('vary: some have many notes and some none, with disputes and letters in every status', () => {
    const counts = clients.map((client) => client.notes.length)
    assert.ok(counts.filter((count) => count >= 3).length >= 8)
    assert.ok(counts.filter((count) => count === 0).length >= 3)
    assert.deepEqual(states(clients.flatMap(({ disputes }) => disputes)), ['open', 'settled', 'withdrawn'])
    assert.deepEqual(states(clients.flatMap(({ letters }) => letters)), ['approved', 'draft', 'sent'])
    assert.deepEqual(states(clients.flatMap(({ tasks }) => tasks)), ['done', 'open'])
    const due = bodies(clients.flatMap(({ tasks }) => tasks)).map((task) => task.due)
    assert.ok(
      due.includes(null) &&
        due.some((day) => day !== null && day < today) &&
        due.some((day) => day !== null && day > today),
    )
  })

  test('have notes from about the last year, on working days, none in the future, with participants', () => {
    for (const { date, participants } of notes) {
      assert.ok(date <= today && date > '2025-09-01', date)
      assert.ok(![0, 6].includes(new Date(date).getUTCDay()), date)
      assert.ok(participants.length >= 2, date)
    }
    assert.ok(new Set(notes.map(({ date }) => date)).size > 50)
  })

  test('are dated in order, in working hours: the client, then its items, then their changes', () => {
    for (const { at, archivedAt, notes: written, disputes, letters, tasks } of clients) {
      const entered = [...written, ...disputes, ...letters, ...tasks]
      const later = entered.flatMap((each) => (each.later ? [[each.at, each.later.at] as const] : []))
      for (const [first, second] of later) assert.ok(first < second)
      const times = [...entered.map((each) => each.at), ...later.map(([, second]) => second)]
      for (const time of times) assert.ok(time > at && time < (archivedAt ?? now), time.toISOString())
      for (const time of [at, archivedAt ?? at, ...times]) {
        assert.ok(![0, 6].includes(time.getUTCDay()), time.toISOString())
        assert.ok(time.getUTCHours() >= 9 && time.getUTCHours() < 18, time.toISOString())
      }
    }
    for (const { at, body } of clients.flatMap((client) => client.notes)) {
      assert.equal(at.toISOString().slice(0, 10), body.date)
    }
  })

  test('contain no unreplaced date', () => {
    assert.deepEqual(
      texts.filter((text) => /[{}]|undefined|NaN|Invalid/.test(text)),
      [],
    )
  })

  test('depend on the day of the first start and on nothing else', async () => {
    const later = [...(await readAll(new Date(now.getTime() + 7 * 86_400_000))).values()].flat()
    assert.deepEqual(valuesOf(later, 'name'), valuesOf(clients, 'name'))
    assert.deepEqual(
      notesOf(later).map(({ date }) => date),
      notes.map(({ date }) => week(date)),
    )
  })
})

describe('the shipped model', () => {
  const engine = createTestEngine()
  before(() => engine.ready())
  after(() => engine.close())

  test('has room for every note and a letter', async () => {
    for (const { text } of notes) {
      const { tokens } = await engine.count(promptOf('Draft a letter to the client from these meeting notes.', text))
      assert.ok(tokens <= 1024 - 400, `${tokens} tokens: ${text}`)
    }
  })
})

describe('dates', () => {
  test('in texts are relative to the day of the text', () => {
    // 20 days before that Saturday is a Sunday, so the Friday before it.
    const tell = datesIn(now, 20)
    assert.equal(dayBefore(now, 20), '2026-10-30')
    assert.equal(tell('{0}, {0y}, {0d}'), '30 October, 30 October 2026, Friday 30 October')
    assert.equal(tell('{-7} {+1} {+20} {+21}'), '23 October 2 November 23 November 23 November')
    assert.equal(tell('{Y-1} {Y} {Y+1}\n'), '2025 2026 2027')
  })
})
