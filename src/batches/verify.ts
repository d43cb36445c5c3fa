import type { Database } from '../platform/database/database.ts'
import { runChecks, type VerifyCheck, type VerifyQueries } from '../platform/verify-checks.ts'
import { lineKey } from './batch.ts'

const keyOfLine = `'${lineKey(`' || l.batch_id || '`, `' || l.number || '`)}'`

const batches: VerifyQueries = {
  'every batch is paid by a key of its account': `
    select b.id as batch, b.account_id as account, key_id as key, k.account_id as account_of_key
    from batch b join api_key k on k.id = b.key_id where k.account_id is distinct from b.account_id`,
  // Lines whose results are removed are gone.
  'every batch has the lines that it counts': `
    select id as batch, account_id as account, lines, succeeded, failed, found.* from batch, lateral (
      select count(*) as lines_found, count(*) filter (where state = 'succeeded') as succeeded_found,
        count(*) filter (where state = 'failed') as failed_found
      from batch_line where batch_id = batch.id) found
    where status <> 'arriving' and ended_at is null and (lines, succeeded, failed) <> (lines_found, succeeded_found, failed_found)
      or status = 'completed' and results_until > now() and (output_id is not null or succeeded = 0) and succeeded <> succeeded_found`,
  'every reply of a batch was charged to its key, once': `
    select batch_id as batch, number as line, request_id as request, lines
    from (
      select batch_id, number, request_id, state, account_id, key_id, count(*) over (partition by request_id) as lines
      from batch_line join batch b on b.id = batch_id where request_id is not null) l
    where state = 'succeeded' and (lines > 1 or not exists (
      select from ledger where request_id = l.request_id and ledger.account_id = l.account_id and ledger.key_id = l.key_id))
    union all
    select batch_id, number, null, null from batch_line where state = 'succeeded' and request_id is null`,
  // Seen for as long as the till keeps idempotency keys. A line whose reply was lost has failed, and names its charge.
  'no line that failed or was not run was charged': `
    select l.batch_id as batch, l.number as line, i.hold_id as request
    from batch_line l join batch b on b.id = l.batch_id join idempotency i on i.account_id = b.account_id and i.key = ${keyOfLine}
      join ledger on ledger.request_id = i.hold_id and ledger.account_id = i.account_id
    where (l.state = 'failed' or l.state = 'queued' and b.ended_at is not null) and l.request_id is distinct from i.hold_id`,
}

/** Checks that batches, their lines and their charges agree. */
export function verifyBatches(database: Database): Promise<VerifyCheck[]> {
  return runChecks(database, batches)
}
