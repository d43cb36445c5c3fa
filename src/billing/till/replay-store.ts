import type { Queryable } from '../../platform/database/database.ts'
import type { ChargedTokens } from '../prices/tokens.ts'

/** The tokens that a request was charged for. Undefined if it is not in the ledger. */
export async function readChargedTokens(database: Queryable, requestId: string): Promise<ChargedTokens | undefined> {
  const [charged] = await database.rows<ChargedTokens>({
    name: 'charged tokens',
    text: `select input_tokens as "inputTokens", output_tokens as "outputTokens", cached_tokens as "cachedTokens",
             cache_write_tokens as "cacheWriteTokens"
           from ledger where request_id = $1`,
    values: [requestId],
  })
  return charged
}
