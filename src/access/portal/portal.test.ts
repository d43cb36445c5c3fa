import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, test } from 'node:test'
import { Client } from 'pg'
import { startCluster, template } from '../../../tests/support/cluster.ts'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import { openDatabase } from '../../platform/database/database.ts'
import type { PreparedStatement } from '../../platform/database/pipeline.ts'
import { migrate } from '../../platform/database/migrations.ts'
import { portalAddress, surveyPortalLogin } from './login.ts'
import { byService, personActor, type Actor, type PersonActor, type Role } from '../actor.ts'
import { openPortal } from './portal.ts'

const { log } = createTestLog()
/** The database's roles. Their names end in its suffix. */
let roles: Readonly<Record<Role | 'portal', string>>

let anna: PersonActor
let ben: PersonActor
let paula: PersonActor
/** One client of each person, with a note, a dispute and a letter, by the person's id. */
const clients = new Map<string, string>()

const own = fixture(() => createTestDatabase())
/** As a superuser, who sees every record and may change it. */
const database = fixture(() => openDatabase(own.superuserUrl, { log }))
const portal = fixture(() => openPortal({ databaseUrl: own.url, log }))
setUp(async () => {
  const [found] = await database.rows<typeof roles>(
    `select portal_role('portal') as portal, portal_role('consultant') as consultant, portal_role('developer') as developer,
       portal_role('partner') as partner`,
  )
  assert.ok(found)
  roles = found
  anna = await person('consultant')
  ben = await person('consultant')
  paula = await person('partner')
  for (const { id } of [anna, ben]) clients.set(id, await clientOf(id))
})

async function person(role: Role): Promise<PersonActor> {
  const id = randomUUIDv7()
  await database.rows('insert into person (id, name, role, created_at) values ($1, $2, $3, now())', [id, role, role])
  return personActor({ id, role })
}

async function clientOf(consultantId: string): Promise<string> {
  const id = randomUUIDv7()
  await database.rows('insert into client (id, name, email, consultant_id) values ($1, $2, $3, $4)', [
    id,
    'C',
    'c@example.com',
    consultantId,
  ])
  await database.rows(
    `with upload as (
        insert into document_upload (id, client_id, bytes, received) values (gen_random_uuid(), $1, 1, 1) returning id, client_id),
      chunk as (insert into document_chunk (client_id, upload_id, start, bytes, data) select client_id, id, 0, 1, 'x' from upload),
      object as (
        insert into document_object (digest, client_id, place) select sha256(id::text::bytea), client_id, 'folder' from upload),
      content as (
        insert into document_content (client_id, digest, bytes, type, upload_id)
        select client_id, sha256('x'), 1, 'text/plain', id from upload returning client_id, digest)
     insert into document_text (client_id, digest, page, label, text) select client_id, digest, 1, '', 'x' from content`,
    [id],
  )
  const fields = [
    ['document', 'name, digest', `'f', sha256('x')`],
    ['note', 'date, text', `'2026-01-01', 'n'`],
    ['task', 'title', `'t'`],
    ['contact', 'name', `'c'`],
    ['dispute', 'invoice, amount', `'i', 1`],
    ['letter', 'subject', `'s'`],
    ['time_entry', 'date, minutes, rate, text', `'2026-01-01', 1, 0, 't'`],
    ['timer', 'person_id', `'${consultantId}'`],
    ['expense', 'date, amount, text', `'2026-01-01', 1000000, 'e'`],
    ['draft', 'created_by, instructions, sources, model, subject', `'${consultantId}', 'i', '[]', 'm', 's'`],
  ]
  for (const [table = '', columns = '', values = ''] of fields) {
    await database.rows(`insert into ${table} (id, client_id, ${columns}) values ($1, $2, ${values})`, [
      randomUUIDv7(),
      id,
    ])
  }
  await database.rows(
    `with letter as (
        insert into letter (id, client_id, subject, status) values (gen_random_uuid(), $1, 's', 'sent') returning id, client_id)
     insert into letter_file (letter_id, client_id, name, content, digest) select id, client_id, 'f', 'x', sha256('x') from letter`,
    [id],
  )
  await database.rows(
    `with mail as (
        insert into letter_mail (id, client_id, letter_id, sending_id, recipient, subject, message)
        select gen_random_uuid(), client_id, letter_id, gen_random_uuid(), 'c@example.com', 's', 'm' from letter_file
        where client_id = $1 returning id, client_id)
     insert into letter_mail_end (mail_id, client_id) select id, client_id from mail`,
    [id],
  )
  await database.rows(
    `insert into letter_review (id, client_id, letter_id, reviewer_id)
     select gen_random_uuid(), client_id, id, $2 from letter where client_id = $1 and status = 'draft'`,
    [id, paula.id],
  )
  await database.rows(
    `insert into ledger (at, request_id, account_id, person_id, model, client_id, input_tokens, output_tokens,
       input_price, output_price, cost, stop_reason, usage_source)
     values (now(), gen_random_uuid(), gen_random_uuid(), $1, 'm', $2, 1, 1, 1, 2, 3, 'complete', 'model')`,
    [consultantId, id],
  )
  await database.rows(
    `insert into usage_day (day, account_id, person_id, model, client_id, requests, input_tokens, output_tokens, cost)
     values (now(), gen_random_uuid(), $1, 'm', $2, 1, 1, 1, 3)`,
    [consultantId, id],
  )
  return id
}

let names = 0
/** Runs a statement as a person. Each text is prepared under its own name. */
async function as<Row = Record<string, unknown>>(who: Actor, text: string, values: readonly string[] = []) {
  names += 1
  const statement: PreparedStatement<Row> = { name: `test ${names}`, text, values }
  const [rows] = await portal.as(who, [statement])
  return rows
}

const seenEntries = (who: Actor) =>
  as<{ outcome: string }>(who, `select outcome from audit where action = 'seen' order by id`)

const tables = [
  'client',
  'note',
  'dispute',
  'letter',
  'letter_file',
  'letter_mail',
  'letter_mail_end',
  'letter_review',
  'letter_review_notice',
  'document',
  'document_chunk',
  'document_content',
  'document_object',
  'document_text',
  'document_upload',
  'task',
  'contact',
  'time_entry',
  'timer',
  'expense',
  'revision',
  'draft',
]
/** Tables for partners only. */
const invoicing = [
  'billed_entry',
  'billed_letters',
  'billed_month',
  'unbilled',
  'invoice',
  'invoice_issue',
  'invoice_line',
  'invoice_payment',
  'invoice_file',
  'invoice_mail',
  'invoice_mail_end',
  'invoice_series',
]
/** Tables in which a person sees the charges of the clients that they may see. */
const charges = ['ledger', 'usage_day']

describe('B84: the roles that read and change records', () => {
  test('are not owners or superusers, cannot bypass row-level security, and inherit nothing', async () => {
    const [role] = await database.rows(
      `select rolcanlogin, rolsuper, rolbypassrls, rolinherit, rolcreaterole, rolcreatedb,
        (select count(*)::int from pg_class where relowner = r.oid) as owns
       from pg_roles r where rolname = $1`,
      [roles.portal],
    )
    assert.deepEqual(role, {
      rolcanlogin: true,
      rolsuper: false,
      rolbypassrls: false,
      rolinherit: false,
      rolcreaterole: false,
      rolcreatedb: false,
      owns: 0,
    })
  })

  test('are bound by row-level security on every table of records, and so is the owner', async () => {
    const rows = await database.rows<{ relname: string }>(
      `select relname from pg_class where relrowsecurity and relforcerowsecurity and relnamespace = 'public'::regnamespace
       order by relname`,
    )
    assert.deepEqual(valuesOf(rows, 'relname'), [...tables, ...invoicing, 'audit'].toSorted())
  })

  test("give no access outside a person's transaction", async () => {
    const client = new Client(await portalAddress(own.url))
    await client.connect()
    for (const table of [
      ...tables,
      ...invoicing,
      'erasure',
      'erased_client',
      'audit',
      'seal',
      'seal_chain',
      'key_issue',
      'person',
      'session',
      'identity',
      'account',
      'api_key',
      'key_limit',
      'budget',
      'tag_day',
      'idempotency',
      ...charges,
    ]) {
      await assert.rejects(client.query(`select * from ${table}`), { code: '42501' }, table)
    }
    await assert.rejects(client.query(`set role ${new URL(own.url).username}`), { code: '42501' })
    await client.end()
  })

  test('see no row if the role is set but no person is', async () => {
    const client = new Client(await portalAddress(own.url))
    await client.connect()
    await client.query(`set role ${roles.consultant}`)
    for (const table of [...tables, ...charges, 'erasure', 'audit']) {
      assert.deepEqual((await client.query(`select from ${table}`)).rows, [], table)
    }
    await client.end()
  })
})

describe('B84: row-level security without a condition in the statement', () => {
  for (const table of [...tables, ...charges]) {
    test(`a consultant sees only their own in ${table}, a partner all`, async () => {
      const owner = table === 'client' ? 'id' : 'client_id'
      const seen = async (who: Actor) =>
        new Set((await as<{ id: string }>(who, `select ${owner} as id from ${table}`)).map(({ id }) => id))
      assert.deepEqual(await seen(anna), new Set([clients.get(anna.id)]))
      assert.deepEqual(await seen(ben), new Set([clients.get(ben.id)]))
      assert.deepEqual(await seen(paula), new Set(clients.values()))
    })
  }

  test('a consultant sees nothing of a deleted client, a partner everything', async () => {
    const carl = await person('consultant')
    const id = await clientOf(carl.id)
    const count = async (who: Actor, table: string) =>
      (await as(who, `select 1 from ${table} where ${table === 'client' ? 'id' : 'client_id'} = $1`, [id])).length
    for (const table of tables) assert.ok((await count(carl, table)) > 0, table)
    await database.rows(
      `insert into audit (action, outcome, actor, client_id) values ('kept', 'allowed', 'service', $1)`,
      [id],
    )
    assert.equal(await count(carl, 'audit'), 1)
    await as(paula, 'update client set deleted_at = now(), version = version + 1 where id = $1', [id])
    for (const table of [...tables, ...charges, 'audit']) {
      assert.equal(await count(carl, table), 0, table)
      // Timers end with the client.
      if (table !== 'timer') assert.ok((await count(paula, table)) > 0, table)
    }
    for (const change of [
      `update client set name = 'x', version = 9 where id = $1 returning 1`,
      `update note set text = 'x', version = 9 where client_id = $1 returning 1`,
    ]) {
      assert.deepEqual(await as(carl, change, [id]), [])
    }
    await assert.rejects(
      as(carl, `insert into note (id, client_id, date, text) values (gen_random_uuid(), $1, '2026-01-01', '')`, [id]),
    )
  })

  test('neither grants nor policies let an audit event name another actor', async () => {
    const actorColumns = 'person_id, actor, actor_name'
    for (const assigned of [`person_id) values ('${ben.id}'`, `actor) values ('service'`, `actor_name) values ('x'`]) {
      for (const who of [anna, paula]) {
        await assert.rejects(as(who, `insert into audit (${assigned})`), /permission denied for table audit/, assigned)
      }
    }
    for (const values of [`'${ben.id}', 'person', null`, `null, 'command', 'root'`, `null, 'service', null`]) {
      const forged = `insert into audit (action, outcome, ${actorColumns}) values ('forged', 'allowed', ${values})`
      for (const who of [anna, paula]) await assert.rejects(as(who, forged), { code: '42501' }, forged)
      // Tests the policy alone, without the grants.
      await assert.rejects(
        database.transaction(async (tx) => {
          await tx.rows(`grant insert (${actorColumns}) on audit to ${roles.consultant}`)
          await tx.rows(`set local role ${roles.consultant}`)
          await tx.rows(`select set_config('tollgate.person', $1, true)`, [anna.id])
          await tx.rows(forged)
        }),
        /row-level security policy for table "audit"/,
        forged,
      )
    }
    await assert.rejects(
      database.transaction(async (tx) => {
        await tx.rows(`grant insert (${actorColumns}) on audit to ${roles.partner}`)
        await tx.rows(`set local role ${roles.partner}`)
        await tx.rows(
          `select set_config('tollgate.actor', 'command', true), set_config('tollgate.actor_name', 'x', true)`,
        )
        await tx.rows(
          `insert into audit (action, outcome, actor, actor_name) values ('forged', 'allowed', 'service', null)`,
        )
      }),
      /row-level security policy for table "audit"/,
    )
    for (const [who, row] of [
      [anna, { actor: 'person', actor_name: null, person_id: anna.id }],
      [paula, { actor: 'person', actor_name: null, person_id: paula.id }],
      [
        { kind: 'command', user: 'olga' },
        { actor: 'command', actor_name: 'olga', person_id: null },
      ],
      [byService.actor, { actor: 'service', actor_name: null, person_id: null }],
    ] as const) {
      const action = `own_${row.actor}_${'role' in who ? who.role : ''}`
      await as(who, `insert into audit (action, outcome) values ('${action}', 'allowed')`)
      assert.deepEqual(await database.rows(`select ${actorColumns} from audit where action = '${action}'`), [
        { ...row },
      ])
    }
  })

  test('an API key and a visitor cannot reach any record', async () => {
    for (const who of [{ kind: 'key', id: anna.id }, { kind: 'visitor' }] as const) {
      await assert.rejects(async () => as(who, 'select 1 from client'), /no access to records/)
    }
  })

  test('a consultant cannot change or add anything of another', async () => {
    const foreign = clients.get(ben.id) ?? ''
    assert.deepEqual(await as(anna, `update client set name = 'x' where id = $1 returning id`, [foreign]), [])
    assert.deepEqual(await as(anna, `update note set text = 'x' where client_id = $1 returning id`, [foreign]), [])
    await assert.rejects(
      as(anna, `insert into note (id, client_id, date, text) values ($1, $2, '2026-01-01', '')`, [
        randomUUIDv7(),
        foreign,
      ]),
      { code: '42501' },
    )
    await assert.rejects(
      as(anna, 'insert into client (id, name, consultant_id) values ($1, $2, $3)', [randomUUIDv7(), 'x', ben.id]),
      { code: '42501' },
    )
    const [row] = await database.rows('select name, version from client where id = $1', [foreign])
    assert.deepEqual(row, { name: 'C', version: 1 })
  })

  test("nobody can set the time of a change, backwards or forwards, on their own or another's client", async () => {
    const [mine, foreign] = [clients.get(anna.id) ?? '', clients.get(ben.id) ?? '']
    const kept = (id: string) =>
      database.rows<{ changed_at: Date }>(
        `select changed_at, updated_at, version, (select count(*) from revision where noun_id = c.id) as revisions
         from client c where id = $1`,
        [id],
      )
    const [had, others] = [await kept(mine), await kept(foreign)]
    for (const time of ['2001-01-01', '2999-01-01']) {
      const attempt = `update client set changed_at = '${time}' returning id`
      assert.deepEqual(await as(anna, attempt), [{ id: mine }])
      const [row] = await kept(mine)
      const year = row?.changed_at.getUTCFullYear() ?? 0
      assert.ok(year > 2001 && year < 2999 && row && had[0] && row.changed_at >= had[0].changed_at)
      assert.deepEqual([{ ...row, changed_at: had[0].changed_at }], had)
    }
    assert.deepEqual(await kept(foreign), others)
    const stamped = await kept(mine)
    await database.transaction(async (tx) => {
      await tx.rows(`select set_config('tollgate.time', '2001-01-01', true)`)
      await tx.rows('update client set changed_at = default where id = $1', [mine])
    })
    assert.deepEqual(await kept(mine), stamped, 'a clock that was set back')
    await assert.rejects(
      as(anna, `insert into client (id, name, consultant_id, changed_at) values ($1, 'x', $2, now())`, [
        randomUUIDv7(),
        anna.id,
      ]),
      { code: '42501' },
    )
  })

  test('an edit that does not increase the version is refused', async () => {
    const mine = clients.get(anna.id) ?? ''
    await assert.rejects(as(anna, `update client set name = 'x' where id = $1`, [mine]), { code: '23505' })
  })

  test('a consultant cannot give a client away, delete anything, or write a log', async () => {
    const mine = clients.get(anna.id) ?? ''
    const attempts = [
      `update client set consultant_id = '${ben.id}' where id = '${mine}'`,
      `update client set deleted_at = now() where id = '${mine}'`,
      `update note set client_id = '${clients.get(ben.id)}' where client_id = '${mine}'`,
      `delete from client where id = '${mine}'`,
      `delete from note where client_id = '${mine}'`,
      'delete from audit',
      `update audit set action = 'x'`,
      `insert into audit (at, action, outcome) values (now(), 'x', 'allowed')`,
      'delete from revision',
      `update revision set data = '{}'`,
      'select email_key from person',
      `select is_partner('${ben.id}')`,
      'select * from session',
      'select * from identity',
    ]
    for (const attempt of attempts) await assert.rejects(as(anna, attempt), { code: '42501' }, attempt)
  })

  test('a consultant does not learn which other people may sign in, a partner does', async () => {
    const known = (who: Actor) => as(who, 'select is_active($1) as own, is_active($2) as other', [anna.id, ben.id])
    assert.deepEqual(await known(anna), [{ own: true, other: false }])
    assert.deepEqual(await known(paula), [{ own: true, other: true }])
    assert.deepEqual(await known(byService.actor), [{ own: true, other: true }])
  })

  test('a partner cannot delete rows or change a log either', async () => {
    for (const attempt of [
      'delete from client',
      'delete from note',
      'delete from audit',
      'truncate audit',
      `update audit set action = 'x'`,
    ]) {
      await assert.rejects(as(paula, attempt), { code: '42501' }, attempt)
    }
  })

  test('a consultant sees the allowed access to their own clients in the audit log, a partner sees everything', async () => {
    for (const [outcome, clientId] of [
      ['allowed', clients.get(anna.id)],
      ['refused', clients.get(anna.id)],
      ['allowed', clients.get(ben.id)],
    ]) {
      await database.rows(`insert into audit (action, outcome, actor, client_id) values ('seen', $1, 'service', $2)`, [
        outcome,
        clientId,
      ])
    }
    assert.deepEqual(await seenEntries(anna), [{ outcome: 'allowed' }])
    assert.equal((await seenEntries(paula)).length, 3)
  })
})

/** Tables of which a developer sees the rows of their accounts. */
const ofAccounts = [
  'account',
  'api_key',
  'key_limit',
  'budget',
  'batch',
  'ledger',
  'usage_day',
  'refusal_day',
  'refused_request',
]
const accountsIn = async (who: Actor, table: string) =>
  valuesOf(
    await as<{ id: string }>(who, `select ${table === 'account' ? 'id' : 'account_id'} as id from ${table}`),
    'id',
  )

/** An account with a row in each of these tables, granted to the person. */
async function accountOf({ id: personId }: PersonActor): Promise<string> {
  const id = randomUUIDv7()
  const [key, scratch] = [randomUUIDv7(), randomUUIDv7()]
  for (const [table, columns, values] of [
    ['account', 'name, requests_per_minute, tokens_per_minute, request_level, token_level', `'${id}', 1, 1, 0, 0`],
    ['account_grant', 'person_id', `'${personId}'`],
    [
      'key_limit',
      'id, daily_budget, held, day, day_charged, month, month_charged',
      `'${id}', 1, 0, now(), 0, now(), 0`,
    ],
    ['api_key', 'id, public_id, secret_hash, name', `'${key}', '${key}', sha256(''), 'k'`],
    [
      'budget',
      'id, name, period, time_zone, hard, amount, began_at, ends_at, charged, held',
      `'${id}', 'b', 'day', 'UTC', true, 1, now(), now(), 0, 0`,
    ],
    [
      'api_key',
      'id, public_id, secret_hash, name, person_id',
      `'${scratch}', '${scratch}', sha256(''), 's', '${anna.id}'`,
    ],
    [
      'ledger',
      `at, request_id, key_id, model, input_tokens, output_tokens, input_price, output_price, cost, stop_reason, usage_source`,
      `now(), '${id}', '${key}', 'm', 1, 1, 1, 2, 3, 'complete', 'model'`,
    ],
    [
      'usage_day',
      'day, key_id, model, requests, input_tokens, output_tokens, cost',
      `now(), '${key}', 'm', 1, 1, 1, 3`,
    ],
    ['refusal_day', 'day, key_id, code, requests', `now(), '${key}', 'overloaded', 1`],
    [
      'batch',
      'id, key_id, dialect, endpoint, expires_at, kept',
      `'${id}', '${key}', 'openai', '/v1/responses', now(), '1 day'`,
    ],
    [
      'refused_request',
      'request_id, at, key_id, status, code, milliseconds',
      `'${id}', now(), '${key}', 503, 'overloaded', 1`,
    ],
  ]) {
    const account = table === 'account' ? 'id' : 'account_id'
    await database.rows(`insert into ${table} (${account}, ${columns}) values ($1, ${values})`, [id])
  }
  await database.rows('insert into budget_key (budget_id, key_id) values ($1, $2)', [id, key])
  return id
}

describe('a developer', () => {
  test('sees what is of the accounts that they were granted, and nothing that is of others', async () => {
    const [dora, erik, foreign] = [await person('developer'), await person('developer'), await person('developer')]
    const [hers, his] = [await accountOf(dora), await accountOf(erik)]
    for (const table of ofAccounts) {
      assert.deepEqual(await accountsIn(dora, table), [hers], table)
      assert.deepEqual(await accountsIn(erik, table), [his], table)
      assert.deepEqual(await accountsIn(foreign, table), [], table)
    }
    assert.deepEqual(await as(dora, 'select budget_id as id from budget_key'), [{ id: hers }])
    assert.deepEqual(await as(foreign, 'select from budget_key'), [])
    await database.rows('insert into account_grant (person_id, account_id) values ($1, $2)', [erik.id, hers])
    assert.deepEqual(new Set(await accountsIn(erik, 'ledger')), new Set([hers, his]))
  })

  test('sees nothing more once the grant is removed, or the person is disabled or has another role', async () => {
    const dora = await person('developer')
    const account = await accountOf(dora)
    for (const [change, undo] of [
      [`update person set status = 'disabled' where id = $1`, `update person set status = 'active' where id = $1`],
      [`update person set role = 'partner' where id = $1`, `update person set role = 'developer' where id = $1`],
      ['delete from account_grant where person_id = $1', 'select where $1::uuid is not null'],
    ] as const) {
      assert.deepEqual(await accountsIn(dora, 'ledger'), [account])
      await database.rows(change, [dora.id])
      for (const table of ofAccounts) assert.deepEqual(await accountsIn(dora, table), [], `${table} after ${change}`)
      await database.rows(undo, [dora.id])
    }
  })

  test('reads no record, person, invoice or secret, not even of their own clients of before, and changes nothing', async () => {
    const dora = await person('developer')
    await clientOf(dora.id)
    await accountOf(dora)
    const others = [
      'person',
      'audit',
      'session',
      'identity',
      'invitation',
      'account_grant',
      'credit_entry',
      'alert_rule',
      'tag_day',
    ]
    for (const attempt of [
      ...[...tables, ...invoicing, ...others].map((table) => `select from ${table}`),
      'select client_id from ledger',
      'select person_id from usage_day',
      'select tags from ledger',
      'select secret_hash from api_key',
      'select billing_email from account',
      'update api_key set revoked_at = now()',
      'update key_limit set daily_budget = 2',
      'select tag_value from budget',
      'update budget set amount = 2',
      'update account set monthly_limit = 2',
      `insert into account_grant (person_id, account_id) select '${dora.id}', id from account`,
      `insert into audit (action, outcome) values ('x', 'allowed')`,
      `select is_active('${dora.id}')`,
    ]) {
      await assert.rejects(as(dora, attempt), { code: '42501' }, attempt)
    }
  })
})

describe('role and person of a transaction', () => {
  test('are reset for the next one on the same connection', async () => {
    const single = await openPortal({ databaseUrl: own.url, log, connections: 1 })
    const whose = { name: 'whose', text: `select current_user::text as role, portal_person()::text as person` }
    const seen = await Promise.all(
      Array.from({ length: 60 }, (_, n) => single.as([anna, ben, paula][n % 3] ?? anna, [whose])),
    )
    for (const [n, [rows]] of seen.entries()) {
      const { id, role } = [anna, ben, paula][n % 3] ?? anna
      assert.deepEqual(rows, [{ role: roles[role], person: id }])
    }
    await single.close()
  })

  test('give a former partner nothing, not even their own records', async () => {
    const former = await person('partner')
    await clientOf(former.id)
    const seen = () => as(former, 'select id from client')
    assert.ok((await seen()).length >= 3)
    for (const change of [`status = 'disabled'`, `status = 'active', role = 'consultant'`]) {
      await database.rows(`update person set ${change} where id = $1`, [former.id])
      assert.deepEqual(await seen(), [], change)
    }
    assert.equal((await as({ ...former, role: 'consultant' }, 'select id from client')).length, 1)
  })

  test('do not survive a failed statement', async () => {
    const single = await openPortal({ databaseUrl: own.url, log, connections: 1 })
    const count = { name: 'count', text: 'select count(*)::int as clients from client' }
    await assert.rejects(single.as(paula, [count, { name: 'bad', text: 'select * from session' }]), { code: '42501' })
    assert.deepEqual(await single.as(anna, [count]), [[{ clients: 1 }]])
    await single.close()
  })
})

describe('the portal login', () => {
  test('is set up by the first of several concurrent starts', async () => {
    // Roles belong to the whole server, so this test starts its own.
    const cluster = await startCluster()
    const url = new URL(`/${template}`, cluster.url).href
    const other = openDatabase(url, { log, connections: 1 })
    await other.rows(`alter role ${new URL(await portalAddress(url)).username} nologin password 'other'`)
    const addresses = await Promise.all(Array.from({ length: 8 }, () => portalAddress(url)))
    assert.equal(new Set(addresses).size, 1)
    const client = new Client(addresses[0])
    await client.connect()
    await client.end()
    await other.close()
    await cluster.stop()
  })

  test("has a password derived from the owner's, stored only as a SCRAM verifier", async () => {
    const { password } = new URL(await portalAddress(own.url))
    assert.ok(password.length >= 43 && !own.url.includes(password))
    const [row] = await database.rows<{ kept: string }>(
      `select rolpassword as kept from pg_authid where rolname = $1`,
      [roles.portal],
    )
    assert.match(row?.kept ?? '', /^SCRAM-SHA-256\$4096:/)
    assert.ok(!row?.kept.includes(password))
  })

  test('cannot be set up by an owner without the right, and one line, without a verifier, says what prints the SQL', async () => {
    const name = `weak_${randomUUIDv7().replaceAll('-', '')}`
    await database.rows(`create role ${name} login password 'weak'`)
    // Not a copy of the template, which already has its roles.
    const alone = await createTestDatabase({ empty: true })
    await migrate(alone.url)
    const weak = new URL(alone.url)
    weak.username = name
    weak.password = 'weak'
    const expected =
      /^The user "\w+" may not set the password of tollgate_portal_[0-9a-f]{8}\. Have an administrator run the statement that \.\/tollgate doctor --portal-sql prints, then start again\.$/
    for (const use of [portalAddress, surveyPortalLogin]) {
      await assert.rejects(use(weak.href), { name: 'OperatorError', message: expected })
    }
    await database.rows(`drop role ${name}`)
    await alone.drop()
  })
})
