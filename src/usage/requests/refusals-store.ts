import type { Queryable } from '../../platform/database/database.ts'

/** How many requests with a key were refused in the same way. */
export interface RefusalCount {
  readonly accountId: string
  readonly keyId: string
  /** Undefined if the request names no known model. */
  readonly model: string | undefined
  readonly code: string
  readonly requests: number
}

/** What was called and why it was refused, without any text of a customer. */
export interface RefusedCall {
  /** The field that the error names. */
  readonly field: string | null
  readonly reason: string | null
  /** The URL, without the prefix of calls that people try. */
  readonly route: string
  /** The API in whose format the call was. */
  readonly dialect: 'tollgate' | 'openai' | 'anthropic'
  readonly user_agent: string | null
  /** Whether it asked for a stream. */
  readonly streamed: boolean
}

/** One of those requests, `ageMs` after it ended. */
export interface RefusedRequest extends Omit<RefusalCount, 'requests'> {
  readonly requestId: string
  readonly call: RefusedCall
  readonly status: number
  readonly milliseconds: number
  readonly ageMs: number
}

/** A batch of one instance. Batches have ascending numbers, and each counts once however often it is sent. */
export interface RefusalBatch {
  readonly source: string
  readonly number: bigint
  readonly counts: readonly RefusalCount[]
  readonly requests: readonly RefusedRequest[]
}

/** Adds a batch. Its counts belong to the day on which it arrives, by the clock of the database. */
export async function addRefusals(database: Queryable, batch: RefusalBatch): Promise<void> {
  const { source, number, counts, requests } = batch
  await database.rows({
    name: 'refusals',
    text: `with batch as (
        insert into refusal_batch as b (source, number) values ($1, $2)
        on conflict (source) do update set number = excluded.number, at = now() where b.number < excluded.number
        returning 1
      ), counted as (
        insert into refusal_day as r (day, account_id, key_id, model, code, requests)
          select (now() at time zone 'UTC')::date, "accountId", "keyId", model, code, requests
          from jsonb_to_recordset($3) as c("accountId" uuid, "keyId" uuid, model text, code text, requests bigint)
          where exists (select from batch)
          order by "accountId", "keyId", model, code
        on conflict (day, account_id, key_id, model, code) do update set requests = r.requests + excluded.requests
      )
      insert into refused_request (request_id, at, account_id, key_id, model, status, code, milliseconds, call)
        select "requestId", now() - "ageMs" * interval '1 ms', "accountId", "keyId", model, status, code, milliseconds, call
        from jsonb_to_recordset($4) as c("requestId" uuid, "ageMs" float, "accountId" uuid, "keyId" uuid, model text,
          status integer, code text, milliseconds integer, call jsonb)
        where exists (select from batch)
      on conflict do nothing`,
    values: [source, number, JSON.stringify(counts), JSON.stringify(requests)],
  })
}

/** Rows that one statement deletes at most. */
const most = 1000

/** Deletes refused requests after 30 days, and the batch numbers of instances that ended long ago. */
export async function deleteOldRefusals(database: Queryable): Promise<void> {
  const statement = `delete from refused_request where request_id = any(array(
    select request_id from refused_request where at < now() - interval '30 days' limit ${most} for update skip locked))
    returning 1`
  while ((await database.rows(statement)).length === most);
  await database.rows(`delete from refusal_batch where at < now() - interval '1 day'`)
}
