import type { Visit } from '../../access/actor.ts'
import { requestsFile } from '../csv.ts'
import type { FirmNeeds } from '../firm.ts'
import { namesIn } from '../names.ts'
import { presentRequest } from '../present.ts'
import { cursorIn, logFilterOf, requestFilter } from '../queries.ts'
import { readLog, type LogFilter, type LoggedRequest } from './request-log.ts'
import type { RequestsPageData, RequestsQuery, UsageRequest } from '../schema.ts'

/** The requests of the firm. Whether the visitor may see them is decided before. Every method throws Problem. */
export interface FirmRequests {
  page(visit: Visit, query: RequestsQuery): Promise<RequestsPageData>
  /** One request, or undefined if there is none with this id. */
  show(visit: Visit, id: string): Promise<UsageRequest | undefined>
  /** All matching requests as CSV, in pieces. Times are in the time zone, with its offset. */
  csv(visit: Visit, query: RequestsQuery): AsyncIterable<string>
}

const perPiece = 1000

export function createFirmRequests(needs: FirmNeeds & { readonly timeZone: string }): FirmRequests {
  const { database, currency } = needs

  async function present(visit: Visit, requests: readonly LoggedRequest[]): Promise<UsageRequest[]> {
    const names = await namesIn(needs, visit, requests)
    return requests.map((request) => presentRequest(request, names, currency))
  }

  async function* pieces(visit: Visit, filter: LogFilter, { outcome }: RequestsQuery) {
    let before: string | undefined
    do {
      const page = await readLog(database, { filter, outcome, before, limit: perPiece })
      yield await present(visit, page.requests)
      before = page.next ?? undefined
    } while (before !== undefined)
  }

  return Object.freeze({
    async page(visit: Visit, query: RequestsQuery) {
      const { outcome, cursor, limit } = query
      const asked = { filter: logFilterOf(query), outcome, before: cursorIn(cursor), limit: Number(limit ?? 50) }
      const { requests, next } = await readLog(database, asked)
      return { requests: await present(visit, requests), next }
    },
    async show(visit: Visit, id: string) {
      const { requests } = await readLog(database, { filter: requestFilter(id), limit: 1 })
      const [request] = await present(visit, requests)
      return request
    },
    csv: (visit: Visit, query: RequestsQuery) => requestsFile(pieces(visit, logFilterOf(query), query), needs),
  } satisfies FirmRequests)
}
