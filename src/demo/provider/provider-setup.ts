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
import type { DemoPerson } from '../people.ts'
import { createProviderMemory } from './provider-memory.ts'
import { expiredPage } from './provider-pages.ts'

/** The portal, as a client of the provider. */
export interface Portal {
  readonly clientId: string
  readonly clientSecret: string
  readonly baseUrl: string
  /** The portal's address for back-channel logout. */
  readonly backChannel: string
  /** The registered addresses after a sign-out. */
  readonly afterSignOut: readonly string[]
}

interface SetupNeeds {
  readonly people: readonly DemoPerson[]
  readonly portal: Portal
  readonly policy: interactionPolicy.DefaultPolicy
}

/** The configuration of oidc-provider: one client, which may read the addresses of a few people. */
export async function providerSetup({ people, portal, policy }: SetupNeeds): Promise<Configuration> {
  return {
    adapter: createProviderMemory(),
    jwks: { keys: [await newKey()] },
    clients: [clientOf(portal)],
    clientAuthMethods: ['client_secret_basic'],
    responseTypes: ['code'],
    scopes: ['openid'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    // Put the address into the ID token too, which saves a request.
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

/** In seconds. */
const ttl = {
  AccessToken: 600,
  AuthorizationCode: 60,
  Grant: 12 * hour,
  IdToken: 600,
  Interaction: hour,
  Session: 12 * hour,
}

/** Browsers share cookies between ports: these names must differ from the portal's. */
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
    require_auth_time: true,
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

/** The page for the choice. Detaches the interaction from the current session, which another tab may end meanwhile. */
async function choiceAddress(interaction: Interaction): Promise<string> {
  interaction.session = undefined
  await interaction.persist()
  return `/interaction/${interaction.uid}`
}

/** Grants what the portal requests without asking: the person only chooses who to be. */
async function grantAll({ oidc }: KoaContextWithOIDC) {
  const grant = new oidc.provider.Grant({ clientId: oidc.client?.clientId, accountId: oidc.session?.accountId })
  grant.addOIDCScope('openid email')
  await grant.save()
  return grant
}

/** The library refuses loopback addresses, where the portal is. This fetch allows the portal's address and no other. */
function toPortal(
  address: string | URL | Request,
  { method, headers, body, signal }: RequestInit = {},
  { backChannel }: Portal,
): Promise<Response> {
  if (address !== backChannel) return Promise.reject(new Error('the demo provider may call the portal only'))
  return fetch(backChannel, {
    redirect: 'error',
    ...(method !== undefined && { method }),
    ...(headers !== undefined && { headers }),
    ...(body !== undefined && { body }),
    ...(signal !== undefined && { signal }),
  })
}
