import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixture } from '../support/fixture.ts'
import { startMailServer } from '../support/mail-server.ts'
import { startPortal } from '../support/portal.ts'

const mail = fixture(() => startMailServer())
const portal = fixture(() => startPortal({ mail: mail.url }))

test('the roles of the portal reach no table of the sign-in, nor the queue of the mail', async () => {
  const rows = await portal.service.database.rows<{ reached: string }>(
    `select distinct c.relname || ' ' || privilege as reached
     from pg_class c join pg_namespace n on n.oid = c.relnamespace,
       unnest(array['consultant', 'partner']) kind,
       unnest(array['select', 'insert', 'update', 'references']) privilege
     where c.relkind in ('r', 'p') and (n.nspname = 'pgboss' or n.nspname = current_schema() and c.relname in
       ('session', 'sign_in_attempt', 'logout_token', 'throttle', 'known_network', 'known_browser', 'email_link', 'password', 'password_reset', 'passkey',
        'passkey_owner', 'totp', 'phone', 'recovery_code', 'enrolment', 'confirmation', 'invitation', 'identity'))
       and (has_any_column_privilege(portal_role(kind), c.oid, privilege) or has_table_privilege(portal_role(kind), c.oid, 'delete, truncate'))`,
  )
  assert.deepEqual(rows, [])
})

test('the roles of the portal change nothing about a person', async () => {
  const [changes] = await portal.service.database.rows<{ any: boolean }>(
    `select bool_or(has_any_column_privilege(portal_role(kind), 'person', 'insert, update')
       or has_table_privilege(portal_role(kind), 'person', 'delete, truncate')) as any
     from unnest(array['consultant', 'partner']) kind`,
  )
  assert.deepEqual(changes, { any: false })
})
