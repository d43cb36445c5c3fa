import type { RecordAccess } from '../access/access.ts'
import { visitOf } from '../access/visits.ts'
import type { Database } from '../platform/database/database.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import { sameOrigin, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import { readOverview } from './operations.ts'
import { createOverview } from './overview.ts'

export { overviewExamples } from './examples.ts'

interface OverviewRouteNeeds {
  readonly access: RecordAccess
  readonly database: Database
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
  readonly currency: string
  readonly timeZone: string
}

/** `/`, the first page of everyone who is signed in. */
export function registerOverview(server: Server, needs: OverviewRouteNeeds): void {
  const overview = createOverview(needs)
  const onRequest = [sameOrigin(needs.baseUrl), signedIn(needs.sessions)]
  server.get('/', { onRequest, schema: readOverview }, async (request, reply) =>
    represent(reply, request, { data: await overview.read(visitOf(request)) }),
  )
}
