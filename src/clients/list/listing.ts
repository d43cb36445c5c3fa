import * as listStore from './store.ts'
import type { RecordAccess } from '../../access/access.ts'
import type { Visit } from '../../access/actor.ts'
import { scopeOf, type Scope } from '../../access/policy.ts'
import { recordId } from '../../platform/database/uuid.ts'
import { boundedTotal, cursorOf, limitOf, positionOf } from '../../platform/http/input/paging.ts'
import { presentListed } from '../present.ts'
import { isGuessable } from '../search/search.ts'
import type { ClientList, ClientQuery } from '../schema.ts'

/** A list shows at most this many clients whose spelling is similar. */
const mostSimilar = 10

/** Returns the function that lists or searches clients, one page at a time. */
export function createClientList(access: RecordAccess) {
  return list

  async function list(visit: Visit, query: ClientQuery): Promise<ClientList> {
    const scope = scopeOf(visit.actor, 'list', 'client')
    if (query.status === 'deleted' && scope.of !== 'all') {
      const audited = { action: 'clients_listed', noun: 'client' }
      return access.forbid(visit, audited, 'Only partners may see deleted clients.')
    }
    const q = query.q === undefined || query.q.trim() === '' ? undefined : query.q
    const consultantId = query.consultant === undefined ? undefined : recordId(query.consultant)
    const filter = { q, status: query.status ?? 'active', consultantId }
    const limit = limitOf(query.limit)
    const sort: listStore.ListPage['sort'] = query.sort ?? (q === undefined ? 'name' : 'best')
    const page = { sort, after: positionOf(query.cursor, listStore.keyTest(sort)), limit: limit + 1 }
    const { rows, counted, similar } = await readPage(visit, scope, filter, page)
    const shown = rows.slice(0, limit)
    // Guesses are one page: their order is not that of the list, so a position in it means nothing.
    const last = rows.length > limit && !similar ? shown.at(-1) : undefined
    await access.note(visit, { action: 'clients_listed', noun: 'client', details: { rows: String(shown.length) } })
    return {
      clients: shown.map(presentListed),
      next: last ? cursorOf(last) : null,
      ...boundedTotal(counted, listStore.countLimit(filter)),
      similar,
    }
  }

  async function search(
    visit: Visit,
    scope: Scope,
    filter: listStore.ListFilter & { readonly q: string },
    page: listStore.ListPage,
  ) {
    if (listStore.isOfFew(scope, filter)) {
      const [found] = await access.as(visit, [listStore.searchFewClients(scope, filter, page)])
      if (found[0]?.searched_all) return found
    }
    const [found] = await access.as(visit, [listStore.searchClients(scope, filter, page)])
    return found
  }

  async function readPage(visit: Visit, scope: Scope, filter: listStore.ListFilter, page: listStore.ListPage) {
    const { q } = filter
    if (q !== undefined) {
      const found = await search(visit, scope, { ...filter, q }, page)
      const rows = found.filter((row) => row.id !== null)
      if (rows.length > 0 || page.after || !isGuessable(q))
        return { rows, counted: found[0]?.total ?? 0, similar: false }
      const [guesses] = await access.as(visit, [listStore.similarClients(scope, { ...filter, q }, mostSimilar)])
      return { rows: guesses, counted: 0, similar: guesses.length > 0 }
    }
    const [rows, [count]] = await access.as(visit, [
      listStore.readClients(scope, filter, page),
      listStore.countClients(scope, filter),
    ])
    return { rows, counted: count?.total ?? 0, similar: false }
  }
}
