import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from 'pg'
import { portalAddress } from '../../src/access/portal/login.ts'
import { openDrafting } from '../support/drafting.ts'
import { fixture } from '../support/fixture.ts'
import type { Member } from '../support/firm.ts'

// What someone who has the portal's login, or a handler with a bug, could try on another's draft.

const { firm, anna, record, holdBack, rows } = openDrafting()
const ben = fixture(() => firm.join('Ben', 'consultant'))
const paula = fixture(() => firm.join('Paula', 'partner'))

/** Runs a query as the portal does for an actor. Nothing of it is kept. */
async function trial(context: string, query: string, values: readonly unknown[]): Promise<unknown[]> {
  const connection = new Client(await portalAddress(firm.service.databaseUrl))
  await connection.connect()
  try {
    await connection.query('begin')
    await connection.query(`select ${context}`)
    const result = await connection.query<Record<string, unknown>>(query, [...values])
    await connection.query('rollback')
    return result.rows
  } finally {
    await connection.end()
  }
}

const roleOf = (role: string) => `set_config('role', portal_role('${role}'), true)`
const asPerson = ({ id, role }: Pick<Member, 'id' | 'role'>) =>
  `${roleOf(role)}, set_config('tollgate.person', '${id}', true)`
const asService = `${roleOf('partner')}, set_config('tollgate.actor', 'service', true)`

const opens = 'select charged, stop_reason, reply from open_draft($1)'
const ends = `select end_draft($1, 'failed', null, 'interrupted') as ended`
const stops = `select end_draft($1, 'stopped', null, null) as ended`

const others = (): Readonly<Record<string, string>> => ({
  'another consultant': asPerson(ben),
  'a partner': asPerson(paula),
  // The role alone, without a person.
  'nobody as a consultant': roleOf('consultant'),
  'nobody as a partner': roleOf('partner'),
  'a command': `${roleOf('partner')}, set_config('tollgate.actor', 'command', true)`,
  // The name of the service is no way around one's own id.
  'a partner who claims to be Tollgate': `${asPerson(paula)}, set_config('tollgate.actor', 'service', true)`,
})

describe("a draft's functions", () => {
  for (const status of ['running', 'interrupted'] as const) {
    it(`B96 open and end a draft that is ${status} for its author and Tollgate alone`, async () => {
      const { id, answer, letOn } = await holdBack(await record())
      if (status === 'interrupted') {
        await rows(`update draft set status = 'failed', failure = 'interrupted', finished_at = now() where id = $1`, [
          id,
        ])
      }
      const state = () => rows('select * from draft where id = $1', [id])
      const before = await state()
      for (const [who, context] of Object.entries(others())) {
        assert.deepEqual(await trial(context, opens, [id]), [], who)
        for (const query of [ends, stops]) assert.deepEqual(await trial(context, query, [id]), [{ ended: false }], who)
      }
      assert.deepEqual(await trial(asPerson(anna), opens, [id]), [{ charged: false, stop_reason: null, reply: null }])
      assert.deepEqual(await trial(asService, opens, [id]), [], 'Tollgate keeps a text as its author')
      for (const context of [asPerson(anna), asService]) {
        assert.deepEqual(await trial(context, ends, [id]), [{ ended: true }])
      }
      // A letter needs a charge, also of the author.
      const keeps = `select end_draft($1, 'complete', $1, null) as ended`
      assert.deepEqual(await trial(asPerson(anna), keeps, [id]), [{ ended: false }])
      assert.deepEqual(await state(), before)
      letOn()
      await answer
      const [ended] = await rows('select status, letter_id from draft where id = $1', [id])
      assert.deepEqual(ended, { status: 'complete', letter_id: id })
      assert.deepEqual(await trial(asPerson(anna), opens, [id]), [], 'it has ended')
      assert.deepEqual(await trial(asService, ends, [id]), [{ ended: false }])
    })
  }

  it('B96 keep a text only as its author', async () => {
    const { id, answer, letOn } = await holdBack(await record())
    const keeps = 'select keep_draft($1, null, null) as outcome'
    for (const [who, context] of Object.entries({ ...others(), Tollgate: asService })) {
      assert.deepEqual(await trial(context, keeps, [id]), [{ outcome: 'out_of_reach' }], who)
    }
    assert.deepEqual(await trial(asPerson(anna), keeps, [id]), [{ outcome: 'uncharged' }])
    letOn()
    await answer
    assert.deepEqual(await trial(asPerson(anna), keeps, [id]), [{ outcome: 'ended' }])
  })

  it('B96 are not a way to write a draft for others: its author, status and letter are written by them alone', async () => {
    const { client } = await record()
    const insert = (columns: string, values: string) =>
      trial(
        asPerson(anna),
        `insert into draft (id, client_id, instructions, sources, model, subject${columns})
         values (gen_random_uuid(), $1, 'x', '[]', 'fast', 'x'${values}) returning created_by`,
        [client],
      )
    assert.deepEqual(await insert('', ''), [{ created_by: anna.id }])
    for (const [columns, values] of [
      [', created_by', `, '${ben.id}'`],
      [', status, finished_at', `, 'complete', now()`],
      [', letter_id', ', gen_random_uuid()'],
      [', created_at', ', now()'],
    ] as const) {
      await assert.rejects(insert(columns, values), { code: '42501' }, columns)
    }
    for (const change of ["status = 'complete'", `created_by = '${ben.id}'`, "instructions = 'y'", "sources = '[]'"]) {
      await assert.rejects(trial(asPerson(anna), `update draft set ${change} where client_id = $1`, [client]), {
        code: '42501',
      })
    }
    await assert.rejects(trial(asPerson(paula), 'delete from draft where client_id = $1', [client]), { code: '42501' })
  })
})
