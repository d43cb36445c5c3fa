import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Value } from 'typebox/value'
import { byService } from '../../src/access/actor.ts'
import { overviewPage, type OverviewData } from '../../src/overview/schema.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { fixture } from '../support/fixture.ts'

/** A zone at an end of the world, where another day than in UTC is common, and where the day does not end within the next two hours. */
const zone = ['Pacific/Kiritimati', 'Etc/GMT+12'].find((each) => Temporal.Now.zonedDateTimeISO(each).hour < 22)
const firm = fixture(() => startFirm({ firm: { time_zone: zone ?? assert.fail() } }))
const paula = fixture(() => firm.join('Paula', 'partner'))
const anna = fixture(() => firm.join('Anna', 'consultant'))
const ben = fixture(() => firm.join('Ben', 'consultant'))

const any = { 'if-match': '*' }

async function tasksOf(member: Member): Promise<OverviewData['tasks']> {
  const { status, json, text } = await member.get('/')
  assert.equal(status, 200, text)
  return Value.Parse(overviewPage, json).tasks
}

async function add(by: Member, client: string, task: object): Promise<string> {
  const { status, json, text } = await by.send('POST', `/clients/${client}/tasks`, task)
  assert.equal(status, 201, text)
  return `/clients/${client}/tasks/${String(json['id'])}`
}

const dayFrom = (day: string, days: number) => Temporal.PlainDate.from(day).add({ days }).toString()
const titlesOf = ({ items }: OverviewData['tasks']) => items.map(({ title }) => title)

describe('the tasks of the overview', () => {
  test('are the open ones that are due by Sunday: overdue, today and this week in the zone of the firm', async () => {
    const cleo = await firm.join('Cleo', 'consultant')
    const client = await firm.client(cleo, 'Berg')
    const { week_end: sunday, overdue, items } = await tasksOf(cleo)
    assert.deepEqual([overdue, items], [0, []])
    assert.equal(Temporal.PlainDate.from(sunday).dayOfWeek, 7)
    await add(cleo, client, { title: 'sunday', due: sunday })
    await add(cleo, client, { title: 'monday', due: dayFrom(sunday, 1) })
    await add(cleo, client, { title: 'some day' })
    await add(cleo, client, { title: 'late', due: dayFrom(sunday, -8) })
    await add(cleo, client, { title: 'later', due: dayFrom(sunday, -7), priority: 'low' })
    await add(cleo, client, { title: 'first', due: dayFrom(sunday, -7), priority: 'high' })
    const done = await add(cleo, client, { title: 'done', due: dayFrom(sunday, -9) })
    await cleo.send('PATCH', done, { status: 'done' }, any)
    const archived = await add(cleo, client, { title: 'archived', due: dayFrom(sunday, -9) })
    await cleo.send('DELETE', archived)
    const tasks = await tasksOf(cleo)
    assert.deepEqual(titlesOf(tasks), ['late', 'first', 'later', 'sunday'])
    assert.equal(tasks.overdue, 3)
    assert.equal(tasks.due_today + tasks.this_week, 1, 'Sunday is today, or later this week')
    assert.deepEqual(tasks.items[0]?.client.name, 'Berg')
    await paula.send('PATCH', `/clients/${client}`, { status: 'archived' }, any)
    assert.deepEqual(titlesOf(await tasksOf(cleo)), [], 'an archived client needs nothing')
  })

  test('are those of the person; a partner also sees how many everyone has, also who is disabled', async () => {
    const { week_end: sunday } = await tasksOf(paula)
    const overdue = { due: dayFrom(sunday, -7) }
    const petra = await firm.join('Petra', 'partner')
    const client = await firm.client(anna, 'Adler')
    await add(anna, client, { title: 'for Anna', ...overdue })
    const given = await add(petra, client, { title: 'for Petra', owner_id: petra.id, ...overdue })
    await add(ben, await firm.client(ben, 'Bauer'), { title: 'for Ben', ...overdue })
    assert.deepEqual(titlesOf(await tasksOf(anna)), ['for Anna'])
    assert.equal((await tasksOf(anna)).people, undefined)
    const shown = await tasksOf(petra)
    assert.deepEqual([titlesOf(shown), shown.overdue], [['for Petra'], 1])
    const counted = { overdue: 1, today: 0, this_week: 0 }
    const peopleIn = ({ people = [] }: OverviewData['tasks']) =>
      people.filter(({ id }) => [anna.id, ben.id, petra.id].includes(id))
    assert.deepEqual(peopleIn(shown), [
      { id: anna.id, name: 'Anna', ...counted },
      { id: ben.id, name: 'Ben', ...counted },
      { id: petra.id, name: 'Petra', ...counted },
    ])
    await firm.service.people.setStatus(petra.id, 'disabled', byService)
    assert.deepEqual(titlesOf(await tasksOf(anna)), ['for Anna', 'for Petra'])
    await paula.send('PATCH', given, { status: 'done' }, any)
    await firm.service.people.setStatus(ben.id, 'disabled', byService)
    assert.deepEqual(peopleIn(await tasksOf(paula)), [
      { id: anna.id, name: 'Anna', ...counted },
      { id: ben.id, name: 'Ben', ...counted },
    ])
    await paula.send('POST', `/people/${ben.id}/handover`, { to: anna.id })
    assert.deepEqual(titlesOf(await tasksOf(anna)).toSorted(), ['for Anna', 'for Ben'])
  })

  test('are also the open disputes with a day, each once, as tasks of the consultant', async () => {
    const [dora, emil] = [await firm.join('Dora', 'consultant'), await firm.join('Emil', 'consultant')]
    const client = await firm.client(dora, 'Dachs')
    const { today, week_end: sunday } = await tasksOf(dora)
    const dispute = async (invoice: string, due: string | null) => {
      const { json } = await dora.send('POST', `/clients/${client}/disputes`, { invoice, amount: '1', due })
      return `/clients/${client}/disputes/${String(json['id'])}`
    }
    await add(dora, client, { title: 'a task', due: today, priority: 'low' })
    const late = await dispute('late', dayFrom(sunday, -8))
    const now = await dispute('now', today)
    await dispute('next week', dayFrom(sunday, 1))
    await dispute('some day', null)
    const shownTo = async (member: Member) => {
      const { items, ...counts } = await tasksOf(member)
      return [items.map(({ noun, title }) => `${noun} ${title}`), counts.overdue, counts.due_today]
    }
    assert.deepEqual(await shownTo(dora), [['dispute late', 'dispute now', 'task a task'], 1, 2])
    assert.deepEqual(await shownTo(emil), [[], 0, 0])
    const peopleShown = async () =>
      (await tasksOf(paula)).people
        ?.filter(({ id }) => [dora.id, emil.id].includes(id))
        .map((each) => [each.name, each.overdue, each.today])
    assert.deepEqual(await peopleShown(), [['Dora', 1, 2]])
    await dora.send('PATCH', late, { status: 'settled' }, any)
    await dora.send('DELETE', now)
    assert.deepEqual(await shownTo(dora), [['task a task'], 0, 1])
    await dora.send('POST', `${now}/restore`)
    await paula.send('POST', `/people/${dora.id}/handover`, { to: emil.id })
    assert.deepEqual(await shownTo(dora), [[], 0, 0])
    assert.deepEqual(await shownTo(emil), [['dispute now', 'task a task'], 0, 2])
    assert.deepEqual(await peopleShown(), [['Emil', 0, 2]])
  })
})
