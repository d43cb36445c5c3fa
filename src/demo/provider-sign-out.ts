import type Provider from 'oidc-provider'
import type { Client, Session } from 'oidc-provider'
import type { Logger } from 'pino'
import type { Portal } from './provider-setup.ts'

interface SignOutNeeds {
  readonly provider: Provider
  readonly portal: Portal
  readonly log: Logger
}

export type EndSignIn = (session: Session) => Promise<void>

/** Makes what ends a sign-in at the provider and, by the back channel, the portal's sessions that came of it. */
export function createEndSignIn({ provider, portal, log }: SignOutNeeds): EndSignIn {
  return async (session) => {
    const client = await provider.Client.find(portal.clientId)
    if (session.accountId !== undefined && client !== undefined && isReachable(client)) {
      try {
        await client.backchannelLogout(session.accountId, session.sidFor(portal.clientId))
      } catch (error) {
        log.warn({ reason: String(error) }, 'the provider of the demo could not tell the portal of a sign-out')
      }
    }
    await session.destroy()
  }
}

/** The address to go on to after a sign-out that the portal asked for; undefined unless it is a registered one. */
export function afterSignOut(
  { post_logout_redirect_uri: next, state }: Readonly<Record<string, unknown>>,
  { afterSignOut: registered }: Portal,
): string | undefined {
  if (typeof next !== 'string' || !registered.includes(next)) return undefined
  const address = new URL(next)
  if (typeof state === 'string') address.searchParams.set('state', state)
  return address.href
}

/** The types leave out how the library itself sends the message of OpenID Connect Back-Channel Logout 1.0. */
interface Reachable {
  backchannelLogout(subject: string, sessionId: string | undefined): Promise<unknown>
}

function isReachable(client: Client): client is Client & Reachable {
  return typeof client['backchannelLogout'] === 'function'
}
