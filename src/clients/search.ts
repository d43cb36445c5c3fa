import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { scopeOf } from '../access/policy.ts'
import { limitOf } from './paging.ts'
import type { Noun, SearchResult, SearchResults } from './schema.ts'
import { search, type FoundRow } from './search-store.ts'
import { snippetOf } from './snippets.ts'

/** Finds beginnings of words in clients and what their records hold, within what the visit may see. */
export interface Search {
  /** Clients come first, then notes, disputes and letters; of each kind the last changed first, at most `limit`. */
  find(visit: Visit, query: { readonly q?: string; readonly limit?: string }): Promise<SearchResults>
}

export function createSearch({ access }: { access: RecordAccess }): Search {
  return Object.freeze({
    async find(visit: Visit, { q = '', limit }) {
      const most = limitOf(limit, 20)
      const of = (noun: Noun) => search(noun, scopeOf(visit.actor, 'list', noun), q, most)
      const found = await access.as(visit, [of('client'), of('note'), of('dispute'), of('letter')])
      const results = found.flat().map((row) => presentFound(row, q))
      await access.note(visit, { action: 'records_searched', details: { results: String(results.length) } })
      return { results }
    },
  } satisfies Search)
}

function presentFound({ noun, id, title, text, client, changed_at }: FoundRow, q: string): SearchResult {
  return { noun, id, title, snippet: snippetOf(text, q), client, changed_at: changed_at.toISOString() }
}
