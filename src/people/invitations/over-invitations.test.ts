import assert from 'node:assert/strict'
import { test } from 'node:test'
import { handedInvitations } from '../../../tests/support/handed-invitations.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { byService } from '../../access/actor.ts'
import { createAudit } from '../../access/audit/audit.ts'
import { removeOverInvitations } from './over-invitations.ts'
import { createPeople } from '../people.ts'

const day = 86_400_000
const now = Date.parse('2026-03-02T09:00:00Z')

const at = (days: number | undefined) => (days === undefined ? null : new Date(now + days * day))

const { database } = openOwnDatabase()

test('invitations are removed 30 days after they were accepted or withdrawn, or have expired, and not before', async () => {
  const audit = createAudit({ database })
  const person = await createPeople({ database, audit }).create(
    { name: 'Ines', email: 'ines@firm.example', role: 'consultant' },
    byService,
  )
  const invitations = handedInvitations(database, audit)
  /** An invitation that expires, was accepted and was withdrawn so many days from now. */
  async function add(
    name: string,
    { expires, accepted, withdrawn }: Record<string, number | undefined>,
  ): Promise<string> {
    const { invitation } = await invitations.create(
      { name, email: `${name}@firm.example`, role: 'consultant' },
      byService,
    )
    await database.rows(
      'update invitation set expires_at = $2, accepted_at = $3, person_id = $4, withdrawn_at = $5 where id = $1',
      [invitation.id, at(expires), at(accepted), accepted === undefined ? null : person.id, at(withdrawn)],
    )
    return invitation.id
  }
  const over = [
    await add('expired', { expires: -30 }),
    await add('accepted', { expires: 7, accepted: -30 }),
    await add('withdrawn', { expires: 7, withdrawn: -31 }),
  ]
  const kept = [
    await add('open', { expires: 7 }),
    await add('just-expired', { expires: -29 }),
    await add('just-accepted', { expires: -40, accepted: -29 }),
    await add('just-withdrawn', { expires: -40, withdrawn: -29 }),
  ]
  await Promise.all([1, 2].map(() => removeOverInvitations({ database, audit, clock: () => now })))
  const left = await database.rows<{ id: string }>('select id from invitation')
  assert.deepEqual(left.map(({ id }) => id).toSorted(), kept.toSorted())
  const rows = await database.rows<{ id: string; actor: string }>(
    `select noun_id as id, actor from audit where action = 'invitation_removed'`,
  )
  assert.deepEqual(
    rows.map(({ id, actor }) => `${id} ${actor}`).toSorted(),
    over.map((id) => `${id} service`).toSorted(),
  )
  await audit.close()
})
