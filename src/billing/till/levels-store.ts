import type { Queryable } from '../../platform/database/database.ts'
import type { Standing } from './limits.ts'

/** The limits of an account and the current levels of its buckets, by the rules of `till()`. Writes nothing. */
export async function readStanding(database: Queryable, accountId: string): Promise<Standing | undefined> {
  const [row] = await database.rows<Standing>({
    name: 'levels',
    text: `select requests_per_minute, tokens_per_minute,
             least(greatest(0, requests_per_minute * 60000000::bigint - requests_lent),
               request_level + passed * requests_per_minute) as request_level,
             least(greatest(0, tokens_per_minute * 60000000::bigint - tokens_lent),
               token_level + passed * tokens_per_minute) as token_level
           from account,
             lateral (select least(60000000,
               greatest(0, extract(epoch from clock_timestamp() - level_at) * 1000000))::bigint as passed) p
           where id = $1`,
    values: [accountId],
  })
  return row
}
