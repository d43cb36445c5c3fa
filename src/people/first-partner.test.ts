import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { byService } from '../access/actor.ts'
import { createAudit } from '../access/audit/audit.ts'
import { handedInvitations } from '../../tests/support/handed-invitations.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { ensureFirstPartner } from './first-partner.ts'
import { createPeople } from './people.ts'
import { checkFirstPartner } from './settings-rule.ts'

function faultsOf(first: string, signUp: object): string[] {
  const faults: string[] = []
  const settings = { sign_in: { first_partner: first, sign_up: { domains: [], ...signUp } } }
  checkFirstPartner(settings, (path, message) => faults.push(`${path}: ${message}`))
  return faults
}

describe('B75: the first partner of the configuration', () => {
  const ensure = (address: string | undefined) => ensureFirstPartner({ database, audit, address })
  const everyone = async () =>
    (await people.list()).flatMap(({ email, role, status }) => (email === null ? [] : [`${email} ${role} ${status}`]))

  const { database } = openOwnDatabase()
  const audit = fixture(() => createAudit({ database }))
  const people = fixture(() => createPeople({ database, audit }))
  beforeEach(() => database.rows(`update person set role = 'consultant', email = null, email_key = null`))

  test('is entered once, even by instances that start at the same time', async () => {
    await Promise.all([ensure('Anna@firm.example'), ensure('anna@firm.example'), ensure('anna@firm.example')])
    await ensure('anna@firm.example')
    assert.equal((await everyone()).length, 1)
    assert.match((await everyone())[0] ?? '', /^anna@firm\.example partner active$/i)
    const rows = await database.rows(
      `select action, actor from audit where action = 'person_created' and actor = 'service'`,
    )
    assert.deepEqual(rows, [{ action: 'person_created', actor: 'service' }])
  })

  test('leaves no invitation of the address open', async () => {
    const invitations = handedInvitations(database, audit)
    for (const email of ['anna@firm.example', 'ruth@firm.example']) {
      await invitations.create({ name: 'Anna', email, role: 'consultant' }, byService)
    }
    await ensure('ANNA@firm.example')
    assert.deepEqual(valuesOf(await invitations.list(), 'email'), ['ruth@firm.example'])
    const rows = await database.rows(
      `select i.email, a.actor from audit a join invitation i on i.id = a.noun_id where action = 'invitation_withdrawn'`,
    )
    assert.deepEqual(rows, [{ email: 'anna@firm.example', actor: 'service' }])
  })

  test('is the person who has the address, if there is one', async () => {
    const { id } = await people.create({ name: 'Anna', email: 'anna@firm.example', role: 'developer' }, byService)
    await database.rows(
      `with added as (insert into account (id, name, requests_per_minute, tokens_per_minute, request_level, token_level)
         values (gen_random_uuid(), 'Acme', 1, 1, 0, 0) returning id)
       insert into account_grant (person_id, account_id) select $1, id from added`,
      [id],
    )
    await ensure('ANNA@firm.example')
    assert.deepEqual(await everyone(), ['anna@firm.example partner active'])
    assert.deepEqual(await database.rows('select from account_grant'), [])
  })

  test('changes nobody while there is a partner, and enables nobody', async () => {
    await people.create({ name: 'Ruth', email: 'ruth@firm.example', role: 'partner' }, byService)
    const anna = await people.create({ name: 'Anna', email: 'anna@firm.example', role: 'consultant' }, byService)
    await ensure('anna@firm.example')
    await ensure('new@firm.example')
    await ensure(undefined)
    assert.deepEqual(await everyone(), ['anna@firm.example consultant active', 'ruth@firm.example partner active'])
    await people.setStatus(anna.id, 'disabled', byService)
    await database.rows(`update person set status = 'disabled' where email = 'ruth@firm.example'`)
    await ensure('anna@firm.example')
    assert.deepEqual(await everyone(), ['anna@firm.example partner disabled', 'ruth@firm.example partner disabled'])
  })

  test('must be an address that the sign-up policy lets in', () => {
    const domain = { policy: 'domain', domains: ['firm.example'] }
    assert.deepEqual(faultsOf('anna@Firm.example', domain), [])
    assert.deepEqual(faultsOf('anna@elsewhere.example', { policy: 'invited' }), [])
    assert.match(faultsOf('anna@sub.firm.example', domain)[0] ?? '', /^sign_in\.first_partner: .*domains$/)
    assert.match(faultsOf('anna', { policy: 'anyone' })[0] ?? '', /^sign_in\.first_partner: must be an email address/)
  })
})
