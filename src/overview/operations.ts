import { answers, needsSession, refusals } from '../platform/http/openapi.ts'
import { overviewPage } from './schema.ts'

/** The OpenAPI operation of /. */
export const readOverview = {
  tags: ['Overview'],
  ...needsSession,
  operationId: 'readOverview',
  summary: 'Show the overview',
  description:
    'What changed since the last working day, deadlines, open disputes (oldest first), and letters to approve and to send (last changed ' +
    'first): of their own active clients for consultants, of all for partners. For partners also `firm`: the credit left, ' +
    "yesterday's cost, and the overdue invoices. `changes` includes archived clients.",
  response: {
    200: answers(overviewPage, 'The overview.'),
    ...refusals(['malformed_request', 'not_signed_in', 'internal', 'unavailable']),
  },
}
