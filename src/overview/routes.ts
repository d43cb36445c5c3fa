import type { RecordAccess } from '../access/access.ts'
import { mayOnSome } from '../access/policy.ts'
import { visitOf } from '../access/visits.ts'
import type { Database } from '../platform/database/database.ts'
import { represent } from '../platform/http/pages/representation.ts'
import type { Server } from '../platform/http/server.ts'
import { sameOrigin, signedIn } from '../signin/guard.ts'
import type { Sessions } from '../signin/session/sessions.ts'
import { registerCalendar, type CalendarAddresses } from './calendar-routes.ts'
import { createTaskCalendar } from './calendar.ts'
import { createOverview } from './overview.ts'
import { answers, needsSession, refusals } from '../platform/http/openapi.ts'
import { overviewPage } from './schema.ts'
import type { ExampleValues } from '../platform/http/examples.ts'

/** The OpenAPI operation of /. */
const readOverview = {
  tags: ['Overview'],
  ...needsSession,
  operationId: 'readOverview',
  summary: 'Show the overview',
  description:
    'What changed since the last working day, the tasks of the person with the disputes they have to answer, open disputes (oldest first), letters to review and returned ones, and letters to approve and to send (last changed ' +
    'first): of their own active clients for consultants, of all for partners. For partners also how many tasks each person has, and `firm`: the credit left, ' +
    "yesterday's cost, and the overdue invoices. `changes` includes archived clients. Developers are sent to their accounts.",
  response: {
    303: { description: 'For developers: `location` is `/accounts`.', type: 'null' },
    200: answers(overviewPage, 'The overview.'),
    ...refusals(['malformed_request', 'not_signed_in', 'internal', 'unavailable']),
  },
}

export interface OverviewRouteNeeds {
  readonly access: RecordAccess
  readonly database: Database
  readonly sessions: Pick<Sessions, 'recognise'>
  readonly baseUrl: string
  readonly currency: string
  readonly timeZone: string
  readonly addresses: CalendarAddresses
}

/** `/`, the first page of everyone who is signed in, and the calendar of their tasks. */
export function registerOverview(server: Server, needs: OverviewRouteNeeds): void {
  const overview = createOverview(needs)
  const onRequest = [sameOrigin(needs.baseUrl), signedIn(needs.sessions)]
  server.get('/', { onRequest, schema: readOverview }, async (request, reply) => {
    const visit = visitOf(request)
    if (!mayOnSome(visit.actor, 'list', 'client')) return reply.redirect('/accounts', 303)
    return represent(reply, request, { data: await overview.read(visit) })
  })
  registerCalendar(server, { addresses: needs.addresses, calendar: createTaskCalendar(needs) })
}

const daniel = '0199c3aa-0f6e-7a52-8d91-4be7c2f01d35'
const harbourLane = {
  id: '0199d2f4-7b51-7c3e-9a60-0c3b1f7a2e11',
  name: 'Harbour Lane Bakery',
  consultant: { id: daniel, name: 'Daniel Osei' },
}

/** A morning of the demo's fictional firm, for the documentation. */
export const overviewExamples = {
  Overview: {
    since: '2026-03-11',
    currency: 'GBP',
    client: harbourLane,
    noun: 'note',
    title: '2026-03-12',
    actions: ['note_created', 'note_changed'],
    by: [{ id: daniel, name: 'Daniel Osei' }],
    status: 'active',
    more: false,
    updated_by: { id: daniel, name: 'Daniel Osei' },
    asked_by: { id: daniel, name: 'Daniel Osei' },
    reviewer: { id: '0199c3aa-2b7d-7e14-a6c0-93d5f1b8e472', name: 'Ruth Penhallow' },
    at: '2026-03-12T08:30:00.000Z',
    subject: 'Our meeting on 12 March',
    invoice: 'PA-2026-0117',
    amount: '1250.00',
    due: '2026-03-26',
    'items.title': 'Answer Maria about the fee',
    'items.noun': 'task',
    'items.due': '2026-03-13',
    'people.id': daniel,
    'people.name': 'Daniel Osei',
    today: '2026-03-12',
    'people.today': 0,
    week_end: '2026-03-15',
    overdue: 0,
    due_today: 0,
    this_week: 1,
    priority: 'normal',
    name: 'Drafting',
    own: true,
    credit_left: '18.40',
    monthly_limit: null,
    used_percent: 26,
    cost: '0.4213',
    requests: 38,
    day: '2026-03-11',
    invoices: 2,
    oldest: '2026-02-14',
  },
} satisfies ExampleValues
