import type { Audit } from '../../access/audit/audit.ts'
import { permitted } from '../../access/permitted.ts'
import { visitOf } from '../../access/visits.ts'
import type { Server } from '../../platform/http/server.ts'
import { Problem } from '../../platform/problems.ts'
import { represent } from '../../platform/http/pages/representation.ts'
import { isUuid } from '../../platform/database/uuid.ts'
import { sameOrigin, sessionOf, signedIn } from '../guard.ts'
import type { SignInMethod } from '../methods/method.ts'
import { registerMyFactors } from './factor-routes.ts'
import * as operations from './operations.ts'
import { registerMyTasks } from './task-routes.ts'
import { networkOf } from '../visitor/network.ts'
import { recentUntil } from '../session/recent-sign-in.ts'
import { signedOut } from '../session/reply.ts'
import type { OwnAccountShown } from './schema.ts'
import type { OwnSignIn } from './account.ts'
import type { Session, Sessions, SessionSummary } from '../session/sessions.ts'
import type { SignIn } from '../signin.ts'

interface MeNeeds {
  readonly sessions: Sessions
  readonly signIn: Pick<SignIn, 'methods' | 'own'>
  readonly audit: Pick<Audit, 'record'>
  readonly baseUrl: string
}

/** /me: the person who is signed in, their sessions, which can be ended one by one or all at once, and how they sign in. */
export function registerMe(server: Server, needs: MeNeeds): void {
  const { sessions, signIn, baseUrl } = needs
  const { methods, own } = signIn
  const reading = [sameOrigin(baseUrl), signedIn(sessions)]
  const ending = permitted(needs, 'remove', 'own_sign_in')

  server.get('/me', { onRequest: reading, schema: operations.readMe }, async (request, reply) => {
    const session = sessionOf(request)
    const [all, account] = await Promise.all([sessions.list(session.person.id), own.read(session.person)])
    return represent(reply, request, {
      data: {
        ...presentSessions(session, all, methods),
        ...presentSignIns(session, account, methods),
        ...presentAccount(account, methods),
      } satisfies OwnAccountShown,
    })
  })

  server.delete<{ Params: { id: string } }>(
    '/me/sessions/:id',
    { onRequest: ending, schema: operations.endSession },
    async (request, reply) => {
      const { id: current, person } = sessionOf(request)
      const { id } = request.params
      const ended = isUuid(id) ? await sessions.end({ personId: person.id, id }, visitOf(request)) : []
      if (ended.length === 0) throw new Problem('not_found', 'You have no such session. It may have ended already.')
      return (id.toLowerCase() === current ? signedOut(reply, sessions) : reply).send({ ended: ended.length })
    },
  )

  server.delete('/me/sessions', { onRequest: ending, schema: operations.endSessions }, async (request, reply) => {
    const ended = await sessions.end({ personId: sessionOf(request).person.id }, visitOf(request))
    return signedOut(reply, sessions).send({ ended: ended.length })
  })

  registerMyFactors(server, needs)
  registerMyTasks(server, needs)
}

function presentSessions(
  session: Session,
  all: readonly SessionSummary[],
  methods: readonly SignInMethod[],
): Pick<OwnAccountShown, 'person' | 'session' | 'sessions'> {
  const { id, person, endsAt, idleEndsAt, provenAt } = session
  return {
    person,
    session: {
      id,
      expires_at: endsAt.toISOString(),
      idle_ends_at: idleEndsAt.toISOString(),
      recent_until: provenAt && new Date(recentUntil(session)).toISOString(),
      idle_seconds: Math.max(0, Math.floor((idleEndsAt.getTime() - Date.now()) / 1000)),
    },
    sessions: all.map((each) => ({
      id: each.id,
      method: each.method,
      method_name: nameOf(each.method, methods),
      factors: [...each.factors],
      device: each.device,
      address: each.network,
      created_at: each.createdAt.toISOString(),
      last_seen_at: each.lastSeenAt.toISOString(),
      current: each.id === id,
    })),
  }
}

/** A method that has been removed from the configuration has only its id. */
const nameOf = (id: string, methods: readonly SignInMethod[]): string =>
  methods.find((method) => method.id === id)?.name ?? id

function presentSignIns(
  session: Session,
  { signIns }: OwnSignIn,
  methods: readonly SignInMethod[],
): Pick<OwnAccountShown, 'sign_ins'> {
  const present = ({ sessionId, at, method, device, address }: OwnSignIn['signIns'][number]) => ({
    at: at.toISOString(),
    method,
    method_name: nameOf(method, methods),
    device,
    address: address && networkOf(address),
    current: sessionId === session.id,
  })
  return { sign_ins: signIns.map(present) }
}

function presentAccount(
  account: OwnSignIn,
  all: readonly SignInMethod[],
): Omit<OwnAccountShown, 'person' | 'session' | 'sessions' | 'sign_ins'> {
  const providers = all.filter((each) => each.kind === 'redirect')
  const providerOf = (issuer: string) => providers.find((each) => each.issuer === issuer)?.name
  const isLinked = (issuer: string) => account.identities.some((each) => each.issuer === issuer)
  return {
    methods: account.methods.map(({ id, name }) => ({ id, name })),
    factors: account.factors.map(({ id, name, isSetUp }) => ({ id, name, set_up: isSetUp })),
    factor_required: account.isFactorRequired,
    passkeys: account.passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
      id,
      name,
      created_at: createdAt.toISOString(),
      last_used_at: lastUsedAt?.toISOString() ?? null,
    })),
    identities: account.identities.map(({ id, issuer, subject, createdAt }) => ({
      id,
      name: providerOf(issuer) ?? issuer,
      issuer,
      subject,
      created_at: createdAt.toISOString(),
    })),
    unlinked: providers.filter(({ issuer }) => !isLinked(issuer)).map(({ id, name }) => ({ id, name })),
    confirmations: account.confirmations.map(({ id, name }) => ({ id, name })),
    recovery_codes_left: account.recoveryCodesLeft,
    calendar: account.calendar
      ? {
          created_at: account.calendar.createdAt.toISOString(),
          read_at: account.calendar.readAt?.toISOString() ?? null,
        }
      : null,
    task_mail: account.taskMail,
  }
}
