import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'

/** Of a part of a document or a mail, what there is. */
const idOf = (noun: string): string =>
  ({
    document_content: 'upload_id',
    document_chunk: 'upload_id',
    document_text: 'client_id',
    letter_mail_end: 'mail_id',
    letter_file: 'letter_id',
    letter_review_notice: 'review_id',
  })[noun] ?? 'id'

const ofDocuments = ['document_upload', 'document_content', 'document_chunk', 'document_text']
const items = [
  'note',
  'dispute',
  'letter',
  'letter_mail',
  'letter_mail_end',
  'letter_file',
  'letter_review',
  'letter_review_notice',
  'document',
  'task',
  'contact',
  'time_entry',
  'timer',
  'expense',
  'draft',
  ...ofDocuments,
].map(
  (noun) => `
    select '${noun}' as noun, t.${idOf(noun)} as id, t.client_id as client, 'it belongs to an erased client' as fault
    from ${noun} t join erased_client e on e.client_id = t.client_id`,
)

const erasures: VerifyQueries = {
  'every erased revision belongs to an erased client': `
    select r.noun, r.noun_id as id, r.version, r.number as revision, 'its contents are missing' as fault
    from revision r where (r.data = '{}' or r.erased is not null)
      and not exists (select from erased_client e where e.client_id = r.client_id)`,
  'of an erased client only its id is left': `select * from (
    ${items.join(' union all ')}
    union all
    select 'batch_line', l.batch_id, l.client_id, 'its line ' || l.number || ' has texts'
    from erased_client e join batch_line l on l.client_id = e.client_id where num_nonnulls(l.content, l.result) > 0
    union all
    select 'batch_file', l.file_id, l.client_id, 'its line ' || l.number || ' is there'
    from erased_client e join batch_file_line l on l.client_id = e.client_id join batch_file f on f.id = l.file_id
    where f.uploaded_at < e.at
    union all
    select 'client', c.id, c.id, 'it has names or addresses again'
    from erased_client e join client c on c.id = e.client_id
    where c.name <> 'Erased client' or num_nonnulls(c.reference, c.email, c.address, c.vat_number, c.billing_street,
        c.billing_extra, c.billing_postcode, c.billing_city, c.billing_country, c.buyer_reference, c.order_number, c.days_to_pay, c.billing_language) > 0
      or c.deleted_at is null
    union all
    select r.noun, r.noun_id, r.client_id, 'its revision ' || r.version || ' has contents again'
    from erased_client e join client c on c.id = e.client_id join revision r on r.client_id = c.id
    where r.data <> '{}' and not (r.noun = 'client' and r.version = c.version)) left_over`,
  'every file of a document that is not needed is removed within two days': `
    select encode(o.digest, 'hex') as object, o.place, o.client_id as client, 'it should have been removed at ' || o.remove_after as fault
    from document_object o where o.remove_after < clock_timestamp() - interval '1 day'
    union all
    select encode(o.digest, 'hex'), o.place, o.client_id, 'no document has it, and it is not going to be removed'
    from document_object o where o.remove_after is null and not exists (select from document_chunk k where k.object = o.digest)`,
  'what remains of the revisions of erased clients is unchanged': `
    select e.client_id as client, e.revisions as recorded, count(r.number) as there
    from erased_client e left join revision r on r.client_id = e.client_id and r.data = '{}'
    group by e.client_id having (count(r.number), sha256(coalesce(string_agg(remains_of(r), ''::bytea order by r.number)
      filter (where r.number is not null), ''::bytea))) is distinct from (e.revisions, e.remains)`,
  'every erasure is in the audit log, and who scheduled it': `
    select e.client_id as client, e.scheduled_by as person, e.at from erased_client e
    where not exists (select from audit a where a.client_id = e.client_id and a.action = 'client_erased'
        and a.actor = 'service' and a.outcome = 'allowed')
      or not exists (select from audit a where a.client_id = e.client_id and a.action = 'client_erasure_scheduled'
        and a.outcome = 'allowed' and a.person_id is not distinct from e.scheduled_by)`,
}

/** Checks that nothing is left of erased clients, and that no contents are missing without an erasure. */
export function verifyErasures(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, erasures)
}
