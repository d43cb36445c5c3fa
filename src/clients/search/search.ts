import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { scopeOf } from '../../access/policy.ts'
import { limitOf } from '../../platform/http/input/paging.ts'
import type { RecordNoun, SearchResult, SearchResults } from '../schema.ts'
import { searchTexts } from '../documents/text/store.ts'
import { searchNoun, searchSimilar, type FoundRow } from './store.ts'
import { snippetOf } from './snippets.ts'

/** Full-text search by word prefix in all records that the actor may see. */
export interface Search {
  /**
   * Clients first, then notes, disputes, letters, documents, tasks and contacts; each last changed first, with at most `limit` matches. If nothing
   * matches, clients with a similar spelling.
   */
  find(visit: Visit, query: { readonly q?: string; readonly limit?: string }): Promise<SearchResults>
}

export function createSearch({ access }: { access: RecordAccess }): Search {
  return Object.freeze({
    async find(visit: Visit, { q = '', limit }) {
      const most = limitOf(limit, 20)
      const of = (noun: RecordNoun) => searchNoun(noun, scopeOf(visit.actor, 'list', noun), q, most)
      const texts = searchTexts(scopeOf(visit.actor, 'list', 'document'), q, most)
      const nouns = [
        of('client'),
        of('note'),
        of('dispute'),
        of('letter'),
        of('document'),
        texts,
        of('task'),
        of('contact'),
      ]
      const found = withoutRepeats((await access.as(visit, nouns)).flat(), most)
      const scope = scopeOf(visit.actor, 'list', 'client')
      const [similar] =
        isGuessable(q) && found.length === 0 ? await access.as(visit, [searchSimilar(scope, q, most)]) : [[]]
      const results = [...found, ...similar].map((row) => presentFound(row, q))
      await access.note(visit, { action: 'records_searched', details: { results: String(results.length) } })
      return { results, similar: similar.length > 0 }
    },
  } satisfies Search)
}

/** A document that its name and its text match is found by its name. */
function withoutRepeats(found: readonly FoundRow[], most: number): FoundRow[] {
  const documents = new Set<string>()
  return found.filter(({ noun, id }) => {
    if (noun !== 'document') return true
    if (documents.has(id) || documents.size === most) return false
    documents.add(id)
    return true
  })
}

/** Whether a text is long enough that something spelt alike is meant. */
export const isGuessable = (q: string): boolean => /[\p{L}\p{N}]{4}/u.test(q)

function presentFound({ noun, id, title, text, client, changed_at, archived }: FoundRow, q: string): SearchResult {
  return { noun, id, title, snippet: snippetOf(text, q), client, changed_at: changed_at.toISOString(), archived }
}
