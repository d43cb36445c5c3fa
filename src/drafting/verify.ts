import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'

const charge = (draft: string, column: string): string =>
  `(select ${column} from ledger where request_id = ${draft}.id limit 1)`

const drafts: VerifyQueries = {
  'every charge of a person for a client has its draft': `
    select request_id as request, person_id as person, client_id as client from ledger
    where person_id is not null and client_id is not null and not exists (
      select from draft where id = request_id and created_by = person_id and draft.client_id = ledger.client_id)
      -- Erasing a client removes its drafts, and nothing else does.
      and not exists (select from erased_client e where e.client_id = ledger.client_id)`,
  'every draft with a letter was charged to its client and its author': `
    select id as draft, letter_id as letter, client_id as client from draft
    where letter_id is not null
      and (created_by, client_id) is distinct from (${charge('draft', 'person_id')}, ${charge('draft', 'client_id')})`,
  'a letter is generated exactly if it or an earlier version has a draft': `
    with recursive written as (
      select letter_id as id, true as itself from draft where letter_id is not null
      union select l.id, false from letter l join written w on l.previous_id = w.id)
    select id as letter, client_id as client, generated from letter
    where generated and id not in (select w.id from written w)
      -- Versions from before 0051_generated_versions.sql are not marked.
      or not generated and id in (select w.id from written w where w.itself)`,
}

/** Checks that drafts, their charges and their letters agree. */
export function verifyDrafts(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, drafts)
}
