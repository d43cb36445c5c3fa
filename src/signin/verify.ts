import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'

const sessions: VerifyQueries = {
  'every session began with a sign-in of its person': `
    select s.id as session, s.person_id as person from session s where not exists (
      select from audit where action = 'sign_in' and outcome = 'allowed' and noun = 'session' and noun_id = s.id
        and person_id = s.person_id)`,
}

/** Checks that the audit log has the sign-in of every session. */
export function verifySessions(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, sessions)
}
