import { randomUUID } from 'node:crypto'
import type { Queryable } from '../../src/platform/database/database.ts'

/** An account with a credit entry. */
export async function insertCredit(database: Queryable): Promise<void> {
  await database.rows(
    `with made as (
       insert into account (id, name, requests_per_minute, tokens_per_minute, credited, request_level, token_level)
       values ($1, 'Credited', 1, 1, 5, 0, 0) returning id)
     insert into credit_entry (id, account_id, amount) select id, id, 5 from made`,
    [randomUUID()],
  )
}
