import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'

const roles: VerifyQueries = {
  'every role is the one that the audit log last recorded': `
    select p.id as person, p.role, last.role as recorded from person p join (
      select distinct on (noun_id) noun_id, coalesce(details ->> 'to', details ->> 'role') as role from audit
      where action in ('person_created', 'role_changed') and outcome = 'allowed'
        and coalesce(details ->> 'to', details ->> 'role') is not null
      order by noun_id, id desc
    ) last on last.noun_id = p.id where last.role <> p.role::text`,
}

/** Checks that the roles of people are those that the audit log records. */
export function verifyPeople(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, roles)
}
