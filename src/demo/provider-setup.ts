import { generateKeyPair, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import type {
  Account,
  ClientMetadata,
  Configuration,
  Interaction,
  interactionPolicy,
  KoaContextWithOIDC,
} from 'oidc-provider'
import type { DemoPerson } from './people.ts'
import { createProviderMemory } from './provider-memory.ts'
import { expiredPage } from './provider-pages.ts'

/** The portal as the provider knows it. */
export interface Portal {
  readonly clientId: string
  readonly clientSecret: string
  readonly baseUrl: string
  /** Where the provider tells the portal of a sign-out. */
  readonly backChannel: string
  /** Where the portal may have people sent after a sign-out. */
  readonly afterSignOut: readonly string[]
}

interface SetupNeeds {
  readonly people: readonly DemoPerson[]
  readonly portal: Portal
  readonly policy: interactionPolicy.DefaultPolicy
}

/** What makes a general OpenID provider the demo's: one application, which may know the address of a few people. */
export async function providerSetup({ people, portal, policy }: SetupNeeds): Promise<Configuration> {
  return {
    adapter: createProviderMemory(),
    jwks: { keys: [await newKey()] },
    clients: [clientOf(portal)],
    clientAuthMethods: ['client_secret_basic'],
    responseTypes: ['code'],
    scopes: ['openid'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    // The ID token has the address too, which saves a round trip.
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features,
    ttl,
    cookies: { names: cookieNames, keys: [randomBytes(32).toString('base64url')] },
    interactions: { policy, url: (_, interaction) => choiceAddress(interaction) },
    findAccount: (_, subject) => accountOf(people, subject),
    loadExistingGrant: grantAll,
    clientBasedCORS: () => false,
    renderError(context) {
      context.type = 'html'
      context.body = expiredPage(portal.baseUrl)
    },
    fetch: (address, init) => toPortal(address, init, portal),
  }
}

const features: Configuration['features'] = {
  devInteractions: { enabled: false },
  backchannelLogout: { enabled: true },
  dPoP: { enabled: false },
  pushedAuthorizationRequests: { enabled: false },
  resourceIndicators: { enabled: false },
}

const hour = 3600

/** Seconds. */
const ttl = {
  AccessToken: 600,
  AuthorizationCode: 60,
  Grant: 12 * hour,
  IdToken: 600,
  Interaction: hour,
  Session: 12 * hour,
}

/** Browsers do not keep cookies of two ports apart: these must not be mistaken for anything of the portal's. */
const cookieNames = {
  session: 'tollgate_demo_session',
  interaction: 'tollgate_demo_interaction',
  resume: 'tollgate_demo_resume',
}

async function newKey() {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 })
  return { ...privateKey.export({ format: 'jwk' }), kty: 'RSA', use: 'sig', alg: 'RS256' } as const
}

function clientOf({ clientId, clientSecret, baseUrl, backChannel, afterSignOut }: Portal): ClientMetadata {
  return {
    client_id: clientId,
    client_secret: clientSecret,
    client_name: 'Tollgate',
    redirect_uris: [`${baseUrl}/auth/callback`],
    post_logout_redirect_uris: [...afterSignOut],
    backchannel_logout_uri: backChannel,
    backchannel_logout_session_required: true,
    token_endpoint_auth_method: 'client_secret_basic',
    grant_types: ['authorization_code'],
    response_types: ['code'],
  }
}

function accountOf(people: readonly DemoPerson[], subject: string): Account | undefined {
  const person = people.find((each) => each.subject === subject)
  if (person === undefined) return undefined
  const claims = { sub: subject, email: person.email, email_verified: true }
  return { accountId: subject, claims: () => claims }
}

/**
 * Where the choice is made. Who was signed in when it began is of no interest: another tab may have ended that before
 * the choice comes.
 */
async function choiceAddress(interaction: Interaction): Promise<string> {
  interaction.session = undefined
  await interaction.persist()
  return `/interaction/${interaction.uid}`
}

/** Choosing whom to be is all that anyone is asked: what the portal wants to know is never refused. */
async function grantAll({ oidc }: KoaContextWithOIDC) {
  const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId })
  grant.addOIDCScope('openid email')
  await grant.save()
  return grant
}

/** The library refuses to connect to this machine, where the portal is; so all it may reach is that one address. */
function toPortal(
  address: string | URL | Request,
  { method, headers, body, signal }: RequestInit = {},
  { backChannel }: Portal,
): Promise<Response> {
  if (address !== backChannel) return Promise.reject(new Error('the provider of the demo reaches the portal only'))
  return fetch(backChannel, {
    redirect: 'error',
    ...(method !== undefined && { method }),
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { body }),
    ...(signal !== undefined && { signal }),
  })
}
