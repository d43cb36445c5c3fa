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

/** Ends a session at the provider and, by back-channel logout, the portal's sessions that came from it. */
export function createEndSignIn({ provider, portal, log }: SignOutNeeds): EndSignIn {
  return async (session) => {
    const client = await provider.Client.find(portal.clientId)
    if (session.accountId !== undefined && client !== undefined && isReachable(client)) {
      try {
        await client.backchannelLogout(session.accountId, session.sidFor(portal.clientId))
      } catch (error) {
        log.warn({ reason: String(error) }, 'the demo provider could not report a sign-out to the portal')
      }
    }
    await session.destroy()
  }
}

/** The registered address to go to after a sign-out; undefined if the portal sent none, or another one. */
export function afterSignOut(
  { post_logout_redirect_uri: next, state }: Readonly<Record<string, unknown>>,
  { afterSignOut: registered }: Portal,
): string | undefined {
  if (typeof next !== 'string' || !registered.includes(next)) return undefined
  const address = new URL(next)
  if (typeof state === 'string') address.searchParams.set('state', state)
  return address.href
}

/** The library sends back-channel logout itself (OpenID Connect Back-Channel Logout 1.0), but its types omit it. */
interface Reachable {
  backchannelLogout(subject: string, sessionId: string | undefined): Promise<unknown>
}

function isReachable(client: Client): client is Client & Reachable {
  return typeof client['backchannelLogout'] === 'function'
}
