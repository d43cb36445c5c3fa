import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { readEntries, type EntryFilter } from '../src/access/audit/store.ts'
import { createAccess } from '../src/access/access.ts'
import { personActor } from '../src/access/actor.ts'
import { openPortal } from '../src/access/portal/portal.ts'
import type { Scope } from '../src/access/policy.ts'
import {
  countClients,
  readClients,
  searchClients,
  searchFewClients,
  similarClients,
  type ListFilter,
  type ListPage,
} from '../src/clients/list/store.ts'
import { createRecords } from '../src/clients/records.ts'
import { readInvoices } from '../src/invoicing/store.ts'
import type { ClientQuery } from '../src/clients/schema.ts'
import { searchNoun, searchSimilar } from '../src/clients/search/store.ts'
import {
  anyActiveClient,
  countedDisputes,
  countedWaiting,
  readChanges,
  readOpenDisputes,
  readWaitingLetters,
} from '../src/overview/store.ts'
import { readLettersToReview, readReturnedLetters } from '../src/overview/reviews-store.ts'
import { readDueTasks } from '../src/overview/tasks-store.ts'
import { openDatabase, type Database, type DedicatedConnection } from '../src/platform/database/database.ts'
import type { PreparedStatement } from '../src/platform/database/pipeline.ts'
import { createTestDatabase } from './support/database.ts'
import { createTestLog } from './support/log.ts'
import { fixture, setUp } from './support/fixture.ts'
import { valuesOf } from './support/json.ts'

/** B95: lists, searches and audit filters read a bounded number of rows, however many there are. */

const clients = 12_000
const consultants = 30

let database: Database
let session: DedicatedConnection

const id = (table: number, n: string) => `('0199000${table}-0000-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`
const person = (n: number) => `01990000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`

/**
 * The name of every client contains "gmbh", one in ten also "silva". One in four begins with "zim" and is at the end of
 * the list. One in ten of all is archived. The consultant `busy` has 3 700, each other one 400. Every note contains "fee", one in 600 also "rarely".
 */
const seeds = [
  // No revisions and no audit events: they would take longer than everything else together.
  'set session_replication_role = replica',
  `insert into person (id, name, role, created_at)
   select ${id(0, 'n')}, 'Person ' || n, case n when 1 then 'partner' else 'consultant' end, now()
   from generate_series(1, ${consultants}) n`,
  `insert into client (id, name, reference, consultant_id, status, changed_at, deleted_at)
   select ${id(1, 'n')}, case when n % 4 = 0 then 'Zimmer ' else 'Adler ' end || case when n % 10 = 3 then 'Silva ' else '' end
     || substr(md5(n::text), 1, 8) || ' GmbH', 'R-' || lpad(n::text, 6, '0'), ${id(0, `2 + least(n % ${consultants - 1}, 20)`)},
     case when n % 20 in (8, 13) then 'archived' else 'active' end, timestamptz '2026-01-01' + n * 7919 % ${clients} * interval '1 minute',
     case when n % 100 = 99 then now() end
   from generate_series(1, ${clients}) n`,
  // A word that is whole, begins another and is a part of one, at both ends of the list, and a reference.
  `update client set name = case when n.n > 5000 then 'Zora ' else 'Abel ' end
     || (array['Quill', 'Quillfeather', 'Seaquill'])[n.n % 3 + 1], reference = case n.n when 1 then 'QUILL' else reference end
   from (select n, ${id(1, 'n')} as id from generate_series(1, ${clients}, 700) n) n where client.id = n.id`,
  `insert into note (id, client_id, date, text, updated_at)
   select ${id(2, 'n')}, ${id(1, 'n')}, date '2026-01-01', 'A fixed fee' || case when n % 600 = 0 then ' rarely' else '' end,
     timestamptz '2026-01-01' + n * interval '1 minute'
   from generate_series(1, ${clients}) n`,
  ...['dispute (id, client_id, invoice, amount)', 'letter (id, client_id, subject, body)'].map(
    (columns, table) => `insert into ${columns}
      select ${id(3, `n + ${table} * 100000`)}, ${id(1, 'n')}, 'About the fee', ${table} from generate_series(1, 5000) n`,
  ),
  `insert into audit (at, action, outcome, actor, person_id, client_id)
   select timestamptz '2026-01-01' + n * interval '1 minute', case when n % 5000 = 1 then 'role_changed' else 'client_read' end,
     case when n % 500 = 3 then 'refused' else 'allowed' end, 'person', ${id(0, `1 + n % ${consultants}`)}, ${id(1, `1 + n % ${clients}`)}
   from generate_series(1, 120000) n`,
  // Archived notes with the rare word, which are found last, and notes of deleted clients with it, which may not be found.
  `update note set archived_at = now() where mod(('x' || right(id::text, 8))::bit(32)::int, 1200) = 0`,
  `insert into note (id, client_id, date, text) select ${id(4, 'n')}, ${id(1, 'n')}, date '2026-01-01', 'A fee, rarely'
   from generate_series(99, ${clients}, 100) n`,
  // Most disputes and letters are closed. None of these is of the consultant whose lists are read.
  ...['dispute (status, id, client_id, invoice, amount)', 'letter (status, id, client_id, subject, body)'].map(
    (columns, table) => `insert into ${columns}
      select '${table === 0 ? 'settled' : 'sent'}', ${id(5, `n + ${table} * 100000`)}, ${id(1, `1 + n % ${clients}`)}, 'About the fee', ${table}
      from generate_series(1, 30000) n where (1 + n % ${clients}) % ${consultants - 1} <> 3`,
  ),
  // Each letter had two reviews, and half of the drafts wait for another; one in a hundred was asked for by the partner, or is for the partner.
  `insert into letter_review (id, client_id, letter_id, reviewer_id, letter_version, status, reason, ended_version, created_by)
   select gen_random_uuid(), l.client_id, l.id, ${id(0, 'case when l.n % 100 = k then 1 else 2 + l.n % 29 end')}, 1,
     case k when 3 then 'open' else 'returned' end, case k when 3 then null else 'The fee' end, case k when 3 then null else 1 end,
     ${id(0, 'case when l.n % 100 = 10 + k then 1 else 2 + l.n % 29 end')}
   from (select row_number() over (order by id) as n, * from letter) l cross join generate_series(1, 3) k
   where k < 3 or l.status = 'draft' and l.n % 2 = 1`,
  `update dispute set due = date '2026-03-01' + right(amount::text, 1)::int`,
  // A hundred changes of each of the clients that changed last: of all, and of one consultant.
  `insert into audit (action, outcome, actor, person_id, client_id, noun, noun_id)
   select 'note_changed', 'allowed', 'person', ${id(0, '2')}, n.client_id, 'note', n.id
   from note n cross join generate_series(1, 100)
   where n.client_id in ((select id from client order by changed_at desc limit 40)
     union (select id from client where consultant_id = ${id(0, '5')} order by changed_at desc limit 40))`,
  // Half have a number and the name of their buyer; of the others, drafts, one in a hundred states none.
  `insert into invoice (id, kind, state, client_id, currency, decimals, net, tax, gross, taxes, number, series, series_number,
     seller, buyer_name, issued_on, due_on, issued_at)
   select ${id(6, 'n')}, 'invoice', 'issued', ${id(1, 'n')}, 'EUR', 2, 0, 0, 0, '[]', 'INV-' || lpad(n::text, 6, '0'), 'INV', n, '{}',
     'Buyer ' || substr(md5(n::text), 1, 8) || ' GmbH', date '2026-01-01', date '2026-01-31', now()
   from generate_series(1, ${clients}) n`,
  `insert into invoice (id, kind, client_id, currency, decimals, net, tax, gross, taxes, buyer_name)
   select ${id(7, 'n')}, 'invoice', ${id(1, 'n')}, 'EUR', 2, 0, 0, 0, '[]', case when n % 100 > 0 then 'Another buyer' end
   from generate_series(1, ${clients}) n`,
  'set session_replication_role = origin',
]

const own = fixture(() => createTestDatabase())
setUp(async () => {
  // A superuser, who sees every record and may switch triggers off.
  database = openDatabase(own.superuserUrl, { log: createTestLog().log, statementTimeout: 0 })
  session = await database.connect()
  for (const statement of seeds) await session.rows(statement)
  await session.rows('vacuum analyze')
})
after(async () => {
  await session.close()
  await database.close()
})

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Actual Rows': number
  readonly 'Actual Loops': number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

const large = new Set(['client', 'note', 'dispute', 'letter', 'letter_review', 'audit', 'invoice'])

/** Prepares a statement as the portal does and passes on the SQL that executes it. */
async function prepared<Result>(
  role: 'partner' | 'consultant',
  { text, values = [] }: PreparedStatement,
  work: (execute: string) => Promise<Result>,
): Promise<Result> {
  const literals = values.map((value) => (value === null || value === undefined ? 'null' : `'${String(value)}'`))
  await session.rows('begin')
  try {
    await session.rows(`select set_config('role', portal_role('${role}'), true)`)
    await session.rows(`select set_config('tollgate.person', '${person(role === 'partner' ? 1 : 5)}', true)`)
    await session.rows(`prepare measured as ${text}`)
    return await work(`execute measured${literals.length > 0 ? `(${literals.join(', ')})` : ''}`)
  } finally {
    await session.rows('rollback')
    await session.rows('deallocate all')
  }
}

/** Runs a statement with the plan that serves every value of its parameters. */
function planOf(role: 'partner' | 'consultant', statement: PreparedStatement): Promise<Plan> {
  return prepared(role, statement, async (execute) => {
    await session.rows(`select set_config('plan_cache_mode', 'force_generic_plan', true)`)
    const [row] = await session.rows<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(
      `explain (analyze, format json) ${execute}`,
    )
    const plan = row?.['QUERY PLAN'][0]?.Plan
    assert.ok(plan)
    return plan
  })
}

/** Fails when the plan scans a large table from end to end, or a node reads more than `most` of its rows. */
async function assertBounded(
  role: 'partner' | 'consultant',
  statement: PreparedStatement,
  most: number,
): Promise<void> {
  for (const node of nodesOf(await planOf(role, statement))) {
    const { 'Node Type': type, 'Relation Name': table = '', 'Actual Rows': rows, 'Actual Loops': loops } = node
    if (!large.has(table) || loops === 0) continue
    assert.notEqual(type, 'Seq Scan', `${statement.name}: ${table}`)
    const read = (rows + (node['Rows Removed by Filter'] ?? 0)) * loops
    assert.ok(read <= most, `${statement.name}: ${type} of ${table} reads ${read} rows`)
  }
}

const all: Scope = { of: 'all' }
const mine: Scope = { of: 'consultant', id: person(5) }
const busy = person(22)
const everything: ListFilter = { q: undefined, status: 'active', consultantId: undefined }
const first: ListPage = { sort: 'name', after: undefined, limit: 51 }
const sorts = ['name', '-name', 'reference', '-reference', 'changed_at', '-changed_at'] as const

describe('a list (B95)', () => {
  for (const sort of sorts) {
    test(`sorted by ${sort} reads one page, for every filter and for the next page`, async () => {
      const key = sort.endsWith('changed_at') ? '2026-01-03 00:00:00+00' : 'm'
      const place = { key, id: person(9) }
      for (const status of ['active', 'archived', 'all'] as const) {
        for (const start of [undefined, place]) {
          const page = { ...first, sort, after: start }
          const filter = { ...everything, status }
          await assertBounded('partner', readClients(all, filter, page), 102)
          await assertBounded('partner', readClients(all, { ...filter, consultantId: person(9) }, page), 500)
          await assertBounded('consultant', readClients(mine, filter, page), 500)
        }
      }
    })
  }

  test('is counted up to a limit', async () => {
    for (const status of ['active', 'archived', 'all'] as const) {
      await assertBounded('partner', countClients(all, { ...everything, status }), 10_001)
      await assertBounded('consultant', countClients(mine, { ...everything, status }), 500)
    }
  })
})

test('a list states if its total is only a lower bound', async () => {
  const portal = await openPortal({ databaseUrl: own.url, log: createTestLog().log, statementTimeout: 0 })
  try {
    const access = createAccess({ portal, audit: { record: async () => undefined } })
    const { clients: lists } = createRecords({ access, currency: 'USD' })
    const visit = { actor: personActor({ id: person(1), role: 'partner' }) }
    const totalOf = async (query: ClientQuery) => {
      const { total, total_is_exact: isExact } = await lists.list(visit, query)
      return [total, isExact]
    }
    assert.deepEqual(await totalOf({ status: 'all' }), [10_000, false])
    assert.deepEqual(await totalOf({ q: words.every }), [1000, false])
    assert.deepEqual(await totalOf({ q: words.late }), [1000, false])
    assert.deepEqual(await totalOf({ q: words.one }), [1, true])
    assert.deepEqual(await totalOf({ status: 'archived' }), [1200, true])
    const [ofBusy] = await database.rows<{ total: number }>(
      `select count(*)::int as total from client where consultant_id = $1 and status = 'active' and deleted_at is null and name ~ 'Silva'`,
      [busy],
    )
    assert.deepEqual(await totalOf({ q: words.oneInTen, consultant: busy }), [ofBusy?.total, true])
  } finally {
    await portal.close()
  }
})

const words = {
  every: 'gmbh',
  oneInTen: 'silva',
  late: 'zim',
  one: 'r-000777',
  none: 'nowhere',
  two: 'gmbh silva',
  inside: 'mbh',
  joined: 'R000777',
  mixed: 'quill',
  empty: '%',
}

describe('a search (B95)', () => {
  test('for a common word reads the first rows of the list, and for a rare one only its matches', async () => {
    for (const sort of [...sorts, 'best'] as const) {
      for (const q of [words.every, words.one, words.none, words.inside, words.joined]) {
        await assertBounded('partner', searchClients(all, { ...everything, q }, { ...first, sort }), 2000)
        await assertBounded('consultant', searchFewClients(mine, { ...everything, q }, { ...first, sort }), 1000)
      }
    }
    for (const noun of ['client', 'note', 'dispute', 'letter'] as const) {
      for (const q of ['gmbh', 'fee', 'rarely', words.one, words.none]) {
        await assertBounded('partner', searchNoun(noun, all, q, 20), 2000)
        await assertBounded('consultant', searchNoun(noun, mine, q, 20), 1000)
      }
    }
    for (const q of ['gmhb', 'silvo', words.none]) {
      await assertBounded('partner', searchSimilar(all, q, 20), 2000)
      await assertBounded('consultant', searchSimilar(mine, q, 20), 1000)
      await assertBounded('partner', similarClients(all, { ...everything, q }, 10), 2000)
    }
  })

  test('is not planned anew at every execution', async () => {
    for (const q of ['gmhb', words.none]) {
      const searches: readonly PreparedStatement[] = [
        searchClients(mine, { ...everything, q }, first),
        searchFewClients(mine, { ...everything, q }, first),
        similarClients(mine, { ...everything, q }, 10),
        searchSimilar(mine, q, 20),
      ]
      for (const statement of searches) {
        const [plans] = await prepared('consultant', statement, async (execute) => {
          // PostgreSQL plans the first five for their values, and then decides.
          for (let time = 0; time < 7; time += 1) await session.rows(execute)
          return session.rows<{ generic: number }>(`select generic_plans::int as generic from pg_prepared_statements`)
        })
        assert.equal(plans?.generic, 2, statement.name)
      }
    }
  })

  test('finds the same clients as a full comparison, on every page', async () => {
    const searches = [
      { search: searchClients, scope: all, size: 50 },
      { search: searchClients, scope: mine, size: 8 },
      { search: searchFewClients, scope: mine, size: 8 },
    ] as const
    for (const q of Object.values(words)) {
      for (const sort of ['name', '-changed_at', 'best'] as const) {
        for (const status of ['active', 'all'] as const) {
          for (const { search, scope, size: most } of searches) {
            const filter = { ...everything, status, q }
            const expected = await matchesOf(q, scope, status, sort)
            let start: ListPage['after']
            const size = q === words.mixed ? 4 : most
            for (let page = 0; page < 5; page += 1) {
              const rows: Found[] = await rowsOf(search(scope, filter, { sort, after: start, limit: size }))
              const found = rows.filter((row) => row.id !== null)
              assert.deepEqual(
                valuesOf(found, 'id'),
                expected.slice(page * size, page * size + size),
                `${search.name} for ${q}, page ${page}, ${status} by ${sort}`,
              )
              assert.equal(Math.min(rows[0]?.total ?? 0, 1001), Math.min(expected.length, 1001), `${q}, page ${page}`)
              const last = found.at(-1)
              if (!last?.id) break
              start = { key: last.key, id: last.id }
            }
          }
        }
      }
    }
  })

  test('by the statement for few clients says whether it searched all', async () => {
    for (const [consultant, searched] of [
      [person(5), true],
      [busy, false],
    ] as const) {
      const few = searchFewClients({ of: 'consultant', id: consultant }, { ...everything, q: words.one }, first)
      const [row] = await rowsOf<{ searched_all: boolean }>(few)
      assert.equal(row?.searched_all, searched)
    }
  })

  test('guesses at the same clients as a full comparison of those that changed last', async () => {
    const last = await database.rows<{ name: string }>(
      `select name from client where deleted_at is null order by changed_at desc limit 1000`,
    )
    const misspelt = [0, 400, 999].map((rank) => {
      const hash = last[rank]?.name.split(' ').at(-2) ?? ''
      return `adlre ${hash.slice(0, 3)}${hash.slice(4)} gmhb`
    })
    for (const q of ['silvo', 'gmhb', 'zimer silva', ...misspelt]) {
      const found: readonly { readonly id: string }[] = await rowsOf(searchSimilar(all, q, 10))
      const expected = await database.rows<{ id: string }>(
        `select id from (
           select id, changed_at, word_similarity(words($1), spelling) as nearness from (
             select * from client where deleted_at is null order by changed_at desc limit 1000) last) compared
         where nearness >= 0.3 order by nearness desc, changed_at desc limit 10`,
        [q],
      )
      assert.ok(expected.length > 0, q)
      assert.deepEqual(valuesOf(found, 'id'), valuesOf(expected, 'id'), q)
    }
  })

  test('finds the same notes as a full comparison: last changed first, archived ones last', async () => {
    for (const q of ['fee', 'rarely', words.none]) {
      const found: readonly { readonly id: string }[] = await rowsOf(searchNoun('note', all, q, 15))
      const expected = await database.rows<{ id: string }>(
        `select n.id from note n join client c on c.id = n.client_id
         where c.deleted_at is null and n.search @@ beginnings($1)
         order by n.archived_at is not null, n.updated_at desc limit 15`,
        [q],
      )
      assert.deepEqual(valuesOf(found, 'id'), valuesOf(expected, 'id'), q)
    }
  })
})

type Found = { readonly total: number } & ({ readonly id: null } | { readonly id: string; readonly key: string })

const orders = {
  name: 'sort_key, id',
  '-changed_at': 'changed_at desc, id desc',
  best: `case when lower(reference) = lower($1) then 1 when search @@ plainto_tsquery('simple', words($1)) then 2
    when search @@ beginnings($1) then 3 else 4 end, sort_key, id`,
}

/** Ids in the order of the list, found the slow way. */
async function matchesOf(
  q: string,
  scope: Scope,
  status: 'active' | 'all',
  sort: keyof typeof orders,
): Promise<string[]> {
  const rows = await database.rows<{ id: string }>(
    `select id from client where deleted_at is null and ($2 = 'all' or status = $2) and ($3::uuid is null or consultant_id = $3)
       and words($1) <> '' and (search @@ beginnings($1) or strpos(replace(words(concat_ws(' ', name, reference)), ' ', ''), replace(words($1), ' ', '')) > 0)
     order by ${orders[sort]}`,
    [q, status, scope.of === 'consultant' ? scope.id : null],
  )
  return rows.map((row) => row.id)
}

function rowsOf<Row extends object>(statement: PreparedStatement<Row>): Promise<Row[]> {
  return database.rows<Row>(statement.text, [...(statement.values ?? [])])
}

describe('the overview (B95)', () => {
  test('reads the clients that changed last, however many changed', async () => {
    // All of them, and none.
    for (const since of [new Date('2026-01-01T00:00:00Z'), new Date()]) {
      await assertBounded('partner', readChanges(all, since), 1000)
      await assertBounded('consultant', readChanges(mine, since), 1000)
    }
  })

  test('counts open disputes and waiting letters up to a limit, and for consultants only their own', async () => {
    await assertBounded('partner', readOpenDisputes(all), countedDisputes + 1)
    await assertBounded('consultant', readOpenDisputes(mine), 500)
    for (const status of ['draft', 'approved'] as const) {
      await assertBounded('partner', readWaitingLetters(all, status), 1.2 * countedWaiting)
      await assertBounded('consultant', readWaitingLetters(mine, status), 500)
    }
  })

  test('counts what is due by a day, and for consultants only their own', async () => {
    const week = { personId: person(5), today: '2026-03-05', weekEnd: '2026-03-08' }
    await assertBounded('partner', readDueTasks(all, week), 5000)
    await assertBounded('consultant', readDueTasks(mine, week), 500)
  })

  test('reads the reviews that concern a person, and for consultants those of their own clients', async () => {
    for (const read of [readLettersToReview, readReturnedLetters]) {
      await assertBounded('partner', read(all, person(1)), 2500)
      await assertBounded('consultant', read(mine, person(5)), 1500)
    }
    // What is read is found: there are such letters.
    for (const read of [readLettersToReview, readReturnedLetters]) {
      const statement = read(all, person(1))
      const [found] = await rowsOf(statement)
      assert.ok(Number(found?.total) > 10, statement.name)
    }
  })

  test('looks at one client to see that there is any', async () => {
    await assertBounded('partner', anyActiveClient(all), 1)
    await assertBounded('consultant', anyActiveClient(mine), 1)
  })
})

describe('the list of invoices (B95)', () => {
  const none = {
    status: undefined,
    clientId: undefined,
    accountId: undefined,
    q: undefined,
    number: undefined,
    after: undefined,
  }
  const today = '2026-06-30'

  test('searched by a number or by a payer that few invoices have reads little else', async () => {
    const [one] = await database.rows<{ buyer_name: string }>(
      `select buyer_name from invoice where number = 'INV-000777'`,
    )
    for (const q of ['inv-000777', one?.buyer_name.split(' ')[1] ?? '', 'nowhere']) {
      await assertBounded('partner', readInvoices(today, { ...none, q: q }, 51), 500)
      await assertBounded('partner', readInvoices(today, { ...none, number: q }, 51), 500)
    }
  })

  test('finds drafts that state no buyer by the name of their client', async () => {
    const [client] = await database.rows<{ id: string; name: string }>(
      `select c.id, c.name from client c join invoice i on i.client_id = c.id where i.buyer_name is null order by c.id limit 1`,
    )
    const rows = await rowsOf(readInvoices(today, { ...none, q: client?.name.toLowerCase() }, 51))
    assert.deepEqual(valuesOf(rows, 'client_id'), [client?.id])
  })
})

describe('the audit log (B95)', () => {
  const reach = { all: 2000, own: 1000 }
  const filters: EntryFilter[] = [
    {},
    { action: 'nothing' },
    { action: 'role_changed' },
    { outcome: 'refused' },
    { outcome: 'refused', action: 'role_changed' },
    { actor: 'command' },
    { person: person(9) },
    { person: person(9), action: 'nothing' },
    { client: '01990001-0000-7000-8000-000000000123', outcome: 'refused' },
    { from: '2026-02-01T00:00:00Z', to: '2026-02-02T00:00:00Z' },
    { from: '2026-02-01T00:00:00Z', action: 'nothing' },
    { views: 'false' },
    { views: 'false', person: person(9) },
    { views: 'false', client: '01990001-0000-7000-8000-000000000123', outcome: 'refused' },
    { views: 'false', from: '2026-02-01T00:00:00Z', to: '2026-02-02T00:00:00Z' },
  ]
  for (const filter of filters) {
    test(`filtered by ${JSON.stringify(filter)} reads at most one search's rows`, async () => {
      await assertBounded('partner', readEntries({ filter, before: undefined, limit: 51, reach }), 2000)
      await assertBounded('partner', readEntries({ filter, before: '60000', limit: 51, reach }), 2000)
    })
  }
})
