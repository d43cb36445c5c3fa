import type { Audit } from '../../access/audit/audit.ts'
import { onRecords, permitted } from '../../access/permitted.ts'
import { visitOf } from '../../access/visits.ts'
import type { Server } from '../../platform/http/server.ts'
import { sessionOf } from '../guard.ts'
import type { Sessions } from '../session/sessions.ts'
import type { SignIn } from '../signin.ts'
import * as operations from './operations.ts'

interface Needs {
  readonly sessions: Sessions
  readonly signIn: Pick<SignIn, 'own'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** How the person who is signed in hears of their tasks elsewhere: in a calendar program, and by mail. */
export function registerMyTasks(server: Server, needs: Needs): void {
  const { calendar, taskMail } = needs.signIn.own

  server.post(
    '/me/calendar',
    {
      onRequest: [...permitted(needs, 'create', 'own_sign_in'), onRecords(needs.audit)],
      schema: operations.createOwnCalendar,
    },
    async (request, reply) => {
      const { personId, secret } = await calendar.create({ session: sessionOf(request), by: visitOf(request) })
      const { href } = new URL(`/calendar/${personId}/${secret}.ics`, needs.baseUrl)
      return reply.code(201).send({ address: href })
    },
  )

  server.delete(
    '/me/calendar',
    { onRequest: permitted(needs, 'remove', 'own_sign_in'), schema: operations.removeOwnCalendar },
    async (request, reply) => {
      await calendar.remove({ session: sessionOf(request), by: visitOf(request) })
      return reply.code(204).send()
    },
  )

  server.post(
    '/me/task-mail',
    {
      onRequest: [...permitted(needs, 'change', 'own_sign_in'), onRecords(needs.audit)],
      schema: operations.turnTaskMailOn,
    },
    async (request) => {
      await taskMail.turnOn({ session: sessionOf(request), by: visitOf(request) })
      return { task_mail: true }
    },
  )

  server.delete(
    '/me/task-mail',
    { onRequest: permitted(needs, 'change', 'own_sign_in'), schema: operations.turnTaskMailOff },
    async (request) => {
      await taskMail.turnOff({ session: sessionOf(request), by: visitOf(request) })
      return { task_mail: false }
    },
  )
}
