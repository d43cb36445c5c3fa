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

/** Whether the person who is signed in is mailed their tasks. */
export function registerMyTaskMail(server: Server, needs: Needs): void {
  const { taskMail } = needs.signIn.own

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
