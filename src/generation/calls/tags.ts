import type { Tags } from '../../billing/till/till.ts'

/** The most characters of a value that is kept. A pair with a longer one is accepted, and left out of the ledger. */
export const longestTag = 128

/**
 * The tags of a request: its metadata, without the ids of a client and of an end user, and without pairs whose values are too long
 * to group by. Undefined without any.
 */
export function tagsOf(metadata: object | undefined): Tags | undefined {
  if (metadata === undefined) return undefined
  const kept = Object.entries(metadata).filter(
    (pair): pair is [string, string] =>
      !untagged.has(pair[0]) && typeof pair[1] === 'string' && pair[1].length <= longestTag,
  )
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

const untagged: ReadonlySet<string> = new Set(['client_id', 'user_id'])
