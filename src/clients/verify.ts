import { runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'
import type { Database } from '../platform/database/database.ts'

/** The columns that `keep_revision()` stores, as JSON. */
const stateOf = (
  row: string,
): string => `(to_jsonb(${row}) - array['id', 'client_id', 'version', 'created_at', 'created_by',
  'updated_at', 'updated_by', 'changed_at', 'archived_at', 'deleted_at', 'search', 'sort_key', 'reference_key', 'spelling'])`

/**
 * Revisions lack columns that were added after them, and whose value is null. Erased revisions have no contents. Money is stored
 * as text, since JSON parsers may lose digits of a number.
 */
const nouns = [
  { noun: 'client', archived: 't.deleted_at is not null', client: 't.id', money: '' },
  { noun: 'note', archived: 't.archived_at is not null', client: 't.client_id', money: '' },
  {
    noun: 'dispute',
    archived: 't.archived_at is not null',
    client: 't.client_id',
    money: ` || jsonb_build_object('amount', t.amount::text)`,
  },
  {
    noun: 'letter',
    archived: 't.archived_at is not null',
    client: 't.client_id',
    money: ` || jsonb_build_object('cost', t.cost::text)`,
  },
  {
    noun: 'document',
    archived: 't.archived_at is not null',
    client: 't.client_id',
    money: '',
  },
  { noun: 'letter_review', archived: 'false', client: 't.client_id', money: '' },
  { noun: 'letter_mail', archived: 'false', client: 't.client_id', money: '' },
  { noun: 'task', archived: 't.archived_at is not null', client: 't.client_id', money: '' },
  { noun: 'contact', archived: 't.archived_at is not null', client: 't.client_id', money: '' },
  {
    noun: 'time_entry',
    archived: 't.archived_at is not null',
    client: 't.client_id',
    money: ` || jsonb_build_object('rate', t.rate::text)`,
  },
  {
    noun: 'expense',
    archived: 't.archived_at is not null',
    client: 't.client_id',
    money: ` || jsonb_build_object('amount', t.amount::text)`,
  },
] as const

const differing = nouns.map(
  ({ noun, archived, client, money }) => `
    select '${noun}' as noun, coalesce(t.id, r.noun_id) as id, t.version, r.version as revision,
      case when t.id is null then 'the record is missing' when r.noun_id is null then 'it has no revision'
        when t.version <> r.version then 'its version is not its last revision'
        else 'it was changed without a revision' end as fault
    from ${noun} t full join (
      select distinct on (noun_id) * from revision where noun = '${noun}' and data <> '{}' order by noun_id, version desc) r on r.noun_id = t.id
    where (t.version, ${client}, ${archived}, jsonb_strip_nulls(${stateOf('t')}${money}))
      is distinct from (r.version, r.client_id, r.archived, jsonb_strip_nulls(r.data))`,
)

const records: VerifyQueries = {
  'every record is its last revision': `select * from (${differing.join(' union all ')}) d`,
  'every mail with a letter has the file that was sent': `
    select m.id as mail, m.letter_id as letter from letter_mail m left join letter_file f on f.letter_id = m.letter_id and f.client_id = m.client_id
    where m.digest is distinct from sha256(f.content)`,
  'no revision is missing': `
    select noun, noun_id as id, count(*) as revisions, max(version) as last from revision
    group by noun, noun_id having max(version) <> count(*) or min(version) <> 1`,
}

export { verifyDocuments } from './documents/verify.ts'
export { openStorageToRead, surveyStorage, type Storage as DocumentStorage } from './documents/storage/storage.ts'

/** Checks that every client and every item equals its last revision, and that no revision is missing. */
export function verifyRecords(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, records)
}
