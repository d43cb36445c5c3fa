import { Type } from 'typebox'
import type { FastifyRequest } from 'fastify'
import { refusals } from '../platform/http/openapi.ts'
import type { Server } from '../platform/http/server.ts'
import { Problem } from '../platform/problems.ts'
import type { PersonActor } from '../access/actor.ts'
import type { TaskCalendar } from './calendar.ts'

const readCalendar = {
  tags: ['Overview'],
  operationId: 'readCalendar',
  summary: 'Read the tasks of a person in a calendar program',
  description:
    'Needs no sign-in: the address is a secret that the person has created on the page of their account. The open tasks that have a day, each as an event of that whole day.',
  params: Type.Object({
    person: Type.String({ description: 'The id of the person.' }),
    file: Type.String({ description: 'The secret, and `.ics`.' }),
  }),
  response: {
    200: { description: 'The calendar (RFC 5545).', content: { 'text/calendar': { schema: { type: 'string' } } } },
    ...refusals(['malformed_request', 'not_found', 'internal', 'unavailable']),
  },
}

/** The secret addresses of calendars. */
export interface CalendarAddresses {
  /** The person whose address it is, if they may sign in. */
  recognise(address: { readonly personId: string; readonly secret: string }): Promise<PersonActor | undefined>
}

/** The address that calendar programs read, without a session. */
export function registerCalendar(
  server: Server,
  { addresses, calendar }: { readonly addresses: CalendarAddresses; readonly calendar: TaskCalendar },
): void {
  server.get('/calendar/:person/:file', { schema: readCalendar }, async (request: FastifyRequest<ByAddress>, reply) => {
    const { person, file } = request.params
    const actor = await addresses.recognise({ personId: person, secret: secretIn(file) })
    const text = actor && (await calendar.read({ actor, requestId: request.id, address: request.ip }))
    if (text === undefined) throw unknown()
    return reply.headers(headers).send(text)
  })
}

interface ByAddress {
  Params: { person: string; file: string }
}

/** Empty, which no secret is, for a name of another form. */
const secretIn = (file: string): string => /^([\w-]{43})\.ics$/.exec(file)?.[1] ?? ''

const headers = {
  'content-type': 'text/calendar; charset=utf-8',
  'content-disposition': 'attachment; filename="tasks.ics"',
  'cache-control': 'private, no-store',
}

function unknown(): Problem {
  return new Problem(
    'not_found',
    'There is no calendar at this address, or the address no longer works. Create a new address on the page of your account.',
  )
}
