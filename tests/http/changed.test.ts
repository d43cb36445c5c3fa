import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { openFirm, type Member } from '../support/firm.ts'
import { at, objectAt, valuesOf } from '../support/json.ts'
import { asSuperuser } from '../support/superuser.ts'
import { until } from '../support/until.ts'
import { waitingForLocks } from '../support/waiting-for-locks.ts'

const { firm, anna, ben, paula } = openFirm()

/** Reads or changes records past row-level security. */
const rows = <Row>(text: string, values: readonly unknown[] = []) =>
  asSuperuser(firm.service.database, (tx) => tx.rows<Row>(text, values))

interface Kept {
  readonly changed_at: Date
  readonly updated_at: Date
  readonly version: number
  readonly revisions: number
}

/** The times and versions of a client: when its record last changed, and what must stay the same then. */
async function kept(id: string): Promise<Kept> {
  const [row] = await rows<Kept>(
    `select changed_at, updated_at, version,
       (select count(*)::int from revision r where r.noun_id = c.id) as revisions
     from client c where id = $1`,
    [id],
  )
  assert.ok(row)
  return row
}

/** A time before every later timestamp. */
async function later(): Promise<Date> {
  const [row] = await firm.service.database.rows<{ now: Date }>(
    `select pg_sleep(0.003), clock_timestamp()::timestamptz(3) as now`,
  )
  assert.ok(row)
  return row.now
}

const items = [
  {
    plural: 'notes',
    noun: 'note',
    fresh: { date: '2026-03-12', text: 'said' },
    change: { text: 'other' },
    bad: { date: '1' },
  },
  {
    plural: 'disputes',
    noun: 'dispute',
    fresh: { invoice: 'I', amount: '5' },
    change: { amount: '6' },
    bad: { amount: 'x' },
  },
  { plural: 'letters', noun: 'letter', fresh: { subject: 'S' }, change: { body: 'B' }, bad: { subject: '' } },
] as const

describe('when a record changed', () => {
  for (const { plural, noun, fresh, change, bad } of items) {
    test(`moves when a ${noun} is created, changed or archived, without making edits of the client stale`, async () => {
      const [id, neighbour] = [await firm.client(anna), await firm.client(anna)]
      const [first, beside] = [await kept(id), await kept(neighbour)]
      const read = await anna.get(`/clients/${id}`)
      let address = ''
      const writes = [
        async () => {
          const made = await anna.send('POST', `/clients/${id}/${plural}`, fresh)
          address = made.headers.get('location') ?? ''
          return made.status
        },
        async () => (await paula.send('PATCH', address, change, { 'if-match': '"1"' })).status,
        async () => (await anna.send('DELETE', address)).status,
      ]
      for (const write of writes) {
        const since = await later()
        assert.ok([200, 201, 204].includes(await write()))
        const now = await kept(id)
        assert.ok(
          now.changed_at > since && now.changed_at <= (await later()),
          `${noun}: ${now.changed_at.toISOString()}`,
        )
        assert.deepEqual({ ...now, changed_at: first.changed_at }, first)
        const shown = await anna.get(`/clients/${id}`)
        assert.equal(shown.json['changed_at'], now.changed_at.toISOString())
        assert.deepEqual(
          [shown.headers.get('etag'), shown.json['updated_at']],
          [read.headers.get('etag'), read.json['updated_at']],
        )
      }
      assert.deepEqual(await kept(neighbour), beside)
      const edit = await anna.send('PATCH', `/clients/${id}`, { name: 'Edited' }, { 'if-match': '"1"' })
      assert.equal(edit.status, 200)
      assert.ok(String(edit.json['changed_at']) >= String(edit.json['updated_at']))
      const states = (await anna.get(`/clients/${id}/revisions`)).json
      const state = objectAt(states, 'revisions', 0, 'data')
      assert.deepEqual([state['name'], 'changed_at' in state], ['Edited', false])
      assert.equal(at(states, 'revisions', 0, 'version'), 2)
      const { json } = await anna.get(`/clients/${id}/activity`)
      const done = json['activity']
      assert.ok(Array.isArray(done))
      assert.deepEqual(
        done.map((each: unknown) => at(each, 'action')),
        ['client_changed', `${noun}_archived`, `${noun}_changed`, `${noun}_created`, 'client_created'],
      )
    })

    test(`does not move when a ${noun} is refused or read`, async () => {
      const id = await firm.client(anna)
      const { headers } = await anna.send('POST', `/clients/${id}/${plural}`, fresh)
      const address = headers.get('location') ?? ''
      const had = await kept(id)
      const stale = { 'if-match': '"7"' }
      const refused = [
        await anna.send('POST', `/clients/${id}/${plural}`, { ...fresh, ...bad }),
        await anna.send('PATCH', address, change, stale),
        await anna.send('PATCH', address, change),
        await anna.send('DELETE', address, undefined, stale),
        await ben.send('POST', `/clients/${id}/${plural}`, fresh),
        await ben.send('PATCH', address, change, { 'if-match': '*' }),
        await ben.send('DELETE', address),
        await anna.send('PATCH', `/clients/${id}`, { name: 'x' }, stale),
      ]
      assert.deepEqual(valuesOf(refused, 'status'), [400, 412, 428, 412, 403, 403, 403, 412])
      for (const looked of [`/clients/${id}`, address, `${address}/revisions`, `/clients/${id}/activity`, '/clients']) {
        assert.equal((await anna.get(looked)).status, 200)
      }
      assert.deepEqual(await kept(id), had)
      assert.equal(
        (await anna.send('PATCH', `/clients/${id}`, { status: 'archived' }, { 'if-match': '*' })).status,
        200,
      )
      const archived = await kept(id)
      assert.equal((await anna.send('POST', `/clients/${id}/${plural}`, fresh)).status, 409)
      assert.equal((await anna.send('PATCH', address, change, { 'if-match': '*' })).status, 409)
      assert.deepEqual(await kept(id), archived)
    })
  }

  test('does not move when a note is refused because the record is full', async () => {
    const id = await firm.client(anna)
    await rows(
      `insert into note (id, client_id, date, text) select gen_random_uuid(), $1, '2026-03-12', '' from generate_series(1, 1000)`,
      [id],
    )
    const had = await kept(id)
    const refusal = await anna.send('POST', `/clients/${id}/notes`, items[0].fresh)
    assert.deepEqual([refusal.status, refusal.error['code']], [409, 'conflict'])
    assert.deepEqual(await kept(id), had)
  })

  test('is the latest of many concurrent writes, none of which blocks another', async () => {
    const id = await firm.client(anna)
    const { headers } = await anna.send('POST', `/clients/${id}/notes`, items[0].fresh)
    const note = headers.get('location') ?? ''
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, n) => {
        const kind = items[n % 3] ?? items[0]
        if (n % 5 === 3) return anna.send('PATCH', `/clients/${id}`, { name: `Name ${n}` }, { 'if-match': '*' })
        if (n % 5 === 4) return paula.send('PATCH', note, { text: `Text ${n}` }, { 'if-match': '*' })
        return anna.send('POST', `/clients/${id}/${kind.plural}`, kind.fresh)
      }),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200, 201]))
    const [row] = await rows<{ changed_at: Date; last: Date; version: number }>(
      `select changed_at, version, greatest(updated_at,
         (select max(updated_at) from note where client_id = c.id), (select max(updated_at) from dispute where client_id = c.id),
         (select max(updated_at) from letter where client_id = c.id)) as last
       from client c where id = $1`,
      [id],
    )
    assert.ok(row && row.changed_at >= row.last, JSON.stringify(row))
    assert.equal(row.version, 7)
  })
})

describe('while an item is written, a client', () => {
  const goes = [
    {
      how: 'handed over',
      set: `consultant_id = (select id from person where name = 'Ben')`,
      writer: () => anna,
      status: 403,
    },
    { how: 'deleted', set: 'deleted_at = now()', writer: () => paula, status: 404 },
  ] as const
  for (const { how, set, writer, status } of goes) {
    test(`that is ${how} refuses the item, and the audit log shows it`, async () => {
      const { database } = firm.service
      const id = await firm.client(anna)
      const { headers } = await anna.send('POST', `/clients/${id}/notes`, items[0].fresh)
      const note = headers.get('location') ?? ''
      const writes = [
        () => writer().send('POST', `/clients/${id}/notes`, { date: '2026-03-12', text: 'late' }),
        () => writer().send('PATCH', note, { text: 'late' }, { 'if-match': '*' }),
        () => writer().send('DELETE', note),
      ]
      const replies = await asSuperuser(database, async (tx) => {
        await tx.rows(`update client set ${set}, version = version + 1 where id = $1`, [id])
        const sent = Promise.all(writes.map((write) => write()))
        await until(async () => (await waitingForLocks(firm.service.database)) === writes.length)
        return { sent }
      })
      for (const reply of await replies.sent) assert.equal(reply.status, status, reply.text)
      const notes = await rows('select text, archived_at from note where client_id = $1', [id])
      assert.deepEqual(notes, [{ text: 'said', archived_at: null }])
      const refused = await database.rows<{ tried: string }>(
        `select details ->> 'tried' as tried from audit where client_id = $1 and outcome = 'refused' order by 1`,
        [id],
      )
      assert.deepEqual(valuesOf(refused, 'tried'), ['note_archived', 'note_changed', 'note_created'])
    })
  }
})

/** Two clients of the list, and the cursor of the next page. */
async function page(member: Member, query: string): Promise<{ ids: string[]; next: string | null }> {
  const { status, json, text } = await member.get(`/clients?limit=2&${query}`)
  assert.equal(status, 200, text)
  const { clients, next } = json
  assert.ok(Array.isArray(clients))
  return {
    ids: clients.map((client: unknown) => String(at(client, 'id'))),
    next: typeof next === 'string' ? next : null,
  }
}

describe('the list sorted by last change', () => {
  for (const also of ['', '&q=client']) {
    test(`starts with the client whose record changed last${also && ', when it is searched'}`, async () => {
      const member = await firm.join(`Lister${also}`, 'consultant')
      const [one, two, three] = [await firm.client(member), await firm.client(member), await firm.client(member)]
      for (const id of [two, one]) {
        await later()
        assert.equal((await member.send('POST', `/clients/${id}/notes`, items[0].fresh)).status, 201)
      }
      const down = await page(member, `sort=-changed_at${also}`)
      assert.deepEqual(down.ids, [one, two])
      assert.deepEqual((await page(member, `sort=-changed_at${also}&cursor=${String(down.next)}`)).ids, [three])
      assert.deepEqual((await page(member, `sort=changed_at${also}`)).ids, [three, two])
    })

    test(`can be paged to its end while records change between pages${also && ', when it is searched'}`, async () => {
      const member = await firm.join(`Turner${also}`, 'consultant')
      const ids: string[] = []
      for (let n = 0; n < 7; n++) ids.push(await firm.client(member))
      for (const sort of ['-changed_at', 'changed_at']) {
        const seen: string[] = []
        const moved = new Set<string>()
        for (let next: string | null = ''; next !== null;) {
          const turned: Awaited<ReturnType<typeof page>> = await page(
            member,
            `sort=${sort}${also}${next && `&cursor=${next}`}`,
          )
          seen.push(...turned.ids)
          next = turned.next
          // One client on this page, where the cursor points, and one on a later page.
          const coming = ids.find((id) => !seen.includes(id))
          for (const id of moved.size > 3 ? [] : [turned.ids.at(-1), coming]) {
            if (id === undefined) continue
            moved.add(id)
            await member.send('POST', `/clients/${id}/notes`, items[0].fresh)
          }
        }
        const still = ids.filter((id) => !moved.has(id))
        assert.deepEqual(seen.filter((id) => !moved.has(id)).toSorted(), still.toSorted(), sort)
        // Towards the end of the list they appear again; towards its beginning they do not.
        if (sort === 'changed_at') assert.deepEqual(new Set(seen), new Set(ids))
        else assert.equal(new Set(seen).size, seen.length)
      }
    })
  }

  test('orders the clients that a search finds', async () => {
    const member = await firm.join('Searcher', 'consultant')
    const [one, two] = [await firm.client(member, 'Zirconia one'), await firm.client(member, 'Zirconia two')]
    await later()
    await member.send('POST', `/clients/${one}/letters`, { subject: 'S' })
    const { json } = await member.get('/search?q=zirconia')
    assert.deepEqual([at(json, 'results', 0, 'id'), at(json, 'results', 1, 'id')], [one, two])
    assert.equal(at(json, 'results', 0, 'changed_at'), (await kept(one)).changed_at.toISOString())
  })
})

test('an item for an unknown client is refused, and no client changes', async () => {
  const stamps = await rows('select id, changed_at from client order by id')
  const reply = await paula.send('POST', `/clients/${randomUUIDv7()}/notes`, items[0].fresh)
  assert.equal(reply.status, 404)
  assert.deepEqual(await rows('select id, changed_at from client order by id'), stamps)
})
