import type { RecordAccess } from '../access/access.ts'
import type { Visit } from '../access/actor.ts'
import { scopeOf } from '../access/policy.ts'
import { limitOf } from './paging.ts'
import type { RecordNoun, SearchResult, SearchResults } from './schema.ts'
import { searchNoun, type FoundRow } from './search-store.ts'
import { snippetOf } from './snippets.ts'

/** Full-text search by word prefix in all records that the actor may see. */
export interface Search {
  /** Clients first, then notes, disputes and letters; each last changed first, with at most `limit` matches. */
  find(visit: Visit, query: { readonly q?: string; readonly limit?: string }): Promise<SearchResults>
}

export function createSearch({ access }: { access: RecordAccess }): Search {
  return Object.freeze({
    async find(visit: Visit, { q = '', limit }) {
      const most = limitOf(limit, 20)
      const of = (noun: RecordNoun) => searchNoun(noun, scopeOf(visit.actor, 'list', noun), q, most)
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
