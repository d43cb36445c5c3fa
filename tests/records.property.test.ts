import assert from 'node:assert/strict'
import { test } from 'node:test'
import { draws } from './support/draws.ts'
import { byService, personActor } from '../src/access/actor.ts'
import fc from 'fast-check'
import { createAccess } from '../src/access/access.ts'
import { createAudit } from '../src/access/audit/audit.ts'
import { openPortal } from '../src/access/portal/portal.ts'
import { createRecords } from '../src/clients/records.ts'
import type { ClientQuery, ListedClient } from '../src/clients/schema.ts'
import { createPeople } from '../src/people/people.ts'
import type { Person } from '../src/people/person.ts'
import { createTestLog } from './support/log.ts'
import { fixture } from './support/fixture.ts'
import { openOwnDatabase } from './support/own-database.ts'

/** A client as the oracle knows it. */
interface Known {
  readonly id: string
  readonly name: string
  readonly notes: string[]
  owner: number
  status: 'active' | 'archived'
  version: number
  /** The number of the step that last wrote to its record. A step that changes nothing does not count. */
  changed: number
}

/** One step of a history. Numbers pick among what exists when the step is taken. */
type Step =
  | { readonly kind: 'create'; readonly owner: number; readonly words: readonly string[] }
  | { readonly kind: 'assign'; readonly client: number; readonly owner: number }
  | { readonly kind: 'status'; readonly client: number; readonly status: 'active' | 'archived' }
  | { readonly kind: 'remove'; readonly client: number }
  | { readonly kind: 'note'; readonly client: number; readonly words: readonly string[] }

const vocabulary = ['amber', 'amberley', 'birch', 'birchwood', 'cedar', 'Élan', 'elanor', 'x1', 'x12']
const words = fc.array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 3 })
const pick = fc.nat(30)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('create' as const), owner: fc.nat(2), words }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('assign' as const), client: pick, owner: fc.nat(2) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('status' as const),
      client: pick,
      status: fc.constantFrom('active' as const, 'archived' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), client: pick }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('note' as const), client: pick, words }) },
)
const question = fc.record({
  q: fc.option(
    fc.array(fc.constantFrom('a', 'am', 'amber', 'amberl', 'birch', 'elan', 'é', 'x1', 'zz'), {
      minLength: 1,
      maxLength: 2,
    }),
    { nil: undefined },
  ),
  status: fc.constantFrom('active' as const, 'archived' as const, 'all' as const),
  sort: fc.constantFrom(
    'name' as const,
    '-name' as const,
    'changed_at' as const,
    '-changed_at' as const,
    'reference' as const,
  ),
  consultant: fc.option(fc.nat(2), { nil: undefined }),
  limit: fc.constantFrom('1', '3', '200'),
})
type Question = typeof question extends fc.Arbitrary<infer Asked> ? Asked : never

const { log } = createTestLog()
const { own, database } = openOwnDatabase(log)
const audit = fixture(() => createAudit({ database }))
const portal = fixture(() => openPortal({ databaseUrl: own.url, log }))
const records = fixture(() => createRecords({ access: createAccess({ portal, audit }), currency: 'USD' }))

let crews = 0
/** Three consultants and a partner of one run. */
async function crew(): Promise<{ consultants: Person[]; partner: Person }> {
  crews += 1
  const people = createPeople({ database, audit })
  const join = (name: string, role: 'consultant' | 'partner') =>
    people.create({ name, email: `${name}${crews}@firm.example`, role }, byService)
  const consultants = [
    await join('one', 'consultant'),
    await join('two', 'consultant'),
    await join('three', 'consultant'),
  ]
  return { consultants, partner: await join('partner', 'partner') }
}

/** The steps of all runs. */
let stepsTaken = 0

async function take(
  taken: Step,
  known: Known[],
  { consultants, partner }: Awaited<ReturnType<typeof crew>>,
): Promise<void> {
  const boss = { actor: personActor(partner) }
  if (taken.kind === 'create') {
    const person = consultants[taken.owner]
    assert.ok(person)
    const name = taken.words.join(' ')
    const { id, version } = await records.clients.create({ actor: personActor(person) }, { name })
    known.push({ id, name, notes: [], owner: taken.owner, status: 'active', version, changed: ++stepsTaken })
    return
  }
  const client = known[taken.client % Math.max(1, known.length)]
  if (client === undefined) return
  const change = (body: object) => records.clients.change(boss, client.id, { basis: null, body })
  switch (taken.kind) {
    case 'assign': {
      // Assigning an archived client restores it as well.
      const { version } = await change({ consultant_id: consultants[taken.owner]?.id, status: 'active' })
      const changes = client.owner !== taken.owner || client.status !== 'active'
      assert.equal(version, client.version + (changes ? 1 : 0), 'only a change makes a version')
      Object.assign(client, { owner: taken.owner, status: 'active', version })
      if (!changes) return
      break
    }
    case 'status': {
      const { version } = await change({ status: taken.status })
      const changes = client.status !== taken.status
      assert.equal(version, client.version + (changes ? 1 : 0), 'only a change makes a version')
      Object.assign(client, { status: taken.status, version })
      if (!changes) return
      break
    }
    case 'remove':
      await records.clients.remove(boss, client.id, null)
      known.splice(known.indexOf(client), 1)
      break
    case 'note':
      if (client.status === 'archived') return
      await records.notes.create(boss, client.id, { date: '2026-01-01', text: taken.words.join(', ') })
      client.notes.push(taken.words.join(' '))
  }
  client.changed = ++stepsTaken
}

const folded = (text: string) => text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
/** Whether every word of a search begins a word of the text. */
const begins = (text: string, q: readonly string[]) =>
  q.every((begin) =>
    folded(text)
      .split(' ')
      .some((word) => word.startsWith(folded(begin))),
  )
const joined = (text: string) => folded(text).replaceAll(' ', '')
/** A client also matches by any part of its name. */
const has = (name: string, q: readonly string[]) =>
  begins(name, q) || (q.join('').length >= 3 && joined(name).includes(joined(q.join(''))))

/** All pages of a list. Clients that were only guessed at, because nothing matched, are apart. */
async function listed(person: Person, query: ClientQuery) {
  const all: ListedClient[] = []
  const guesses: ListedClient[] = []
  const totals = new Set<number>()
  for (let cursor: string | null | undefined; cursor !== null;) {
    const page = await records.clients.list(
      { actor: personActor(person) },
      { ...query, ...(cursor !== undefined && { cursor }) },
    )
    ;(page.similar ? guesses : all).push(...page.clients)
    totals.add(page.total)
    cursor = page.next
  }
  return { all, guesses, totals }
}

async function check(
  asked: Question,
  known: readonly Known[],
  { consultants, partner }: Awaited<ReturnType<typeof crew>>,
): Promise<void> {
  const { q, status, sort, limit } = asked
  const crewIds = new Set(consultants.map(({ id }) => id))
  for (const [index, person] of [...consultants, partner].entries()) {
    const mine = known.filter(({ owner }) => index === 3 || owner === index)
    const whose = asked.consultant === undefined ? {} : { consultant: consultants[asked.consultant]?.id ?? '' }
    const query = { status, sort, limit, ...whose, ...(q && { q: q.join(' ') }) }
    const { all, guesses, totals } = await listed(person, query)
    // A partner also sees the clients of other runs.
    const seen = all.filter(({ consultant }) => crewIds.has(consultant.id))
    const expected = mine
      .filter((client) => status === 'all' || client.status === status)
      .filter(({ owner }) => asked.consultant === undefined || owner === asked.consultant)
      .filter(({ name }) => q === undefined || has(name, q))
    assert.deepEqual(seen.map(({ id }) => id).toSorted(), expected.map(({ id }) => id).toSorted())
    assert.deepEqual([...totals], [all.length])
    const allowed = new Set(mine.filter((client) => status === 'all' || client.status === status).map(({ id }) => id))
    const strangers = guesses.filter(({ id, consultant }) => crewIds.has(consultant.id) && !allowed.has(id))
    assert.deepEqual(strangers, [], 'a guess at a client that the person may not see')
    if (index < 3) assert.ok(guesses.every(({ consultant }) => consultant.id === person.id))
    if (index < 3) assert.equal(seen.length, all.length, 'a client of another consultant')
    if (sort === 'name')
      assert.deepEqual(
        seen.map(({ name }) => folded(name)),
        seen.map(({ name }) => folded(name)).toSorted(),
      )
    if (sort === 'changed_at' || sort === '-changed_at') {
      const inTime = sort === 'changed_at' ? seen : seen.toReversed()
      const stepOf = ({ id }: ListedClient) => known.find((client) => client.id === id)?.changed ?? 0
      for (const [at, client] of inTime.entries()) {
        const next = inTime[at + 1]
        if (next === undefined || next.changed_at === client.changed_at) continue
        assert.ok(next.changed_at > client.changed_at && stepOf(next) > stepOf(client), `${sort}: ${client.name}`)
      }
    }

    const { results, similar } = await records.search.find(
      { actor: personActor(person) },
      { q: (q ?? ['a']).join(' '), limit: '200' },
    )
    const ours = results.filter(({ client }) => known.some(({ id }) => id === client.id))
    assert.ok(ours.every(({ client }) => mine.some(({ id }) => id === client.id)))
    const found = similar ? [] : ours
    if (index < 3) assert.equal(ours.length, results.length, 'a match in the record of another consultant')
    const finds = mine.flatMap(({ id, name, notes }) => [
      ...(has(name, q ?? ['a']) ? [`client ${id}`] : []),
      ...notes.filter((note) => begins(note, q ?? ['a'])).map(() => `note ${id}`),
    ])
    assert.deepEqual(found.map(({ noun, client }) => `${noun} ${client.id}`).toSorted(), finds.toSorted())
  }
}

test('B80: lists, totals, pages, sorting and search return exactly the clients that a person may see', async () => {
  const history = fc.array(step, { minLength: 5, maxLength: 25 })
  await fc.assert(
    fc.asyncProperty(history, fc.array(question, { minLength: 2, maxLength: 4 }), async (steps, questions) => {
      const people = await crew()
      const known: Known[] = []
      for (const each of steps) await take(each, known, people)
      for (const asked of questions) await check(asked, known, people)
      for (const { id } of known) await records.clients.remove({ actor: personActor(people.partner) }, id, null)
    }),
    draws({ test: 8, endure: 200 }),
  )
})
