import { createHash, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'
import { createCertificate } from './certificate.ts'
import { createKeys, type Signature } from './lying-tokens.ts'
import { closeServer, listen } from './server.ts'

/** How an endpoint of the provider fails. */
export type Failure = 'slow' | 'error' | 'malformed' | 'huge' | 'cut' | 'not an object'

/** The provider's faults. It starts without any; tests can change them at any time. */
export interface Lies {
  discovery: Failure | Readonly<Record<string, unknown>>
  token: Failure | Readonly<Record<string, unknown>>
  keys: Failure | Readonly<Record<string, unknown>>
  userinfo: Failure | Readonly<Record<string, unknown>>
  /** Changes to the ID token. `undefined` removes a claim. */
  claims: Readonly<Record<string, unknown>>
  header: Readonly<Record<string, unknown>>
  signature: Signature
  /** Changes to the callback's parameters. */
  callback: Readonly<Record<string, string | undefined>>
  /** The delay of `slow`, in ms. */
  delay: number
}

export const clientId = 'tollgate'
export const clientSecret = 'a-secret-of-this-client-that-is-long-enough'

const honest: Lies = {
  discovery: {},
  token: {},
  keys: {},
  userinfo: {},
  claims: {},
  header: {},
  signature: 'right',
  callback: {},
  delay: 10_000,
}

interface Issued {
  readonly nonce: string | null
  readonly challenge: string | null
  readonly redirectUri: string | null
}

export type LyingProvider = Awaited<ReturnType<typeof startLyingProvider>>

/**
 * Starts an OpenID provider on a port of 127.0.0.1 that signs everybody in without asking and lies as instructed. Like an
 * honest provider, it checks the client's secret, PKCE and the redirect address, and accepts a code once. With `secure` it
 * uses https, and this process trusts its certificate.
 */
export async function startLyingProvider({ secure = false }: { readonly secure?: boolean } = {}) {
  const lies = { ...honest }
  const keys = await createKeys()
  const codes = new Map<string, Issued>()
  const asked = { discovery: 0, authorize: 0, token: 0, keys: 0, userinfo: 0, other: 0 }
  const sent: string[] = []
  const idTokens = new Set<string>()
  let subject = 'subject-1'
  let email: unknown = 'somebody@example.com'

  const handle = (request: IncomingMessage, response: ServerResponse) => {
    void answer(request, response).catch(() => response.destroy())
  }
  const server = secure ? createSecureServer(trustedCertificate(), handle) : createServer(handle)
  const issuer = `${secure ? 'https' : 'http'}://127.0.0.1:${await listen(server)}`
  const close = () => closeServer(server)

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer)
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        asked.discovery++
        return tell(response, lies, lies.discovery, metadata(issuer))
      case '/authorize':
        asked.authorize++
        return sendBack(url, response)
      case '/token':
        asked.token++
        return tell(response, lies, lies.token, () => redeem(request))
      case '/keys':
        asked.keys++
        return tell(response, lies, lies.keys, { keys: keys.shown() })
      case '/userinfo':
        asked.userinfo++
        return tell(response, lies, lies.userinfo, { sub: subject, email, email_verified: true })
      case '/end':
        return endSession(url, response)
      default:
        asked.other++
        response.writeHead(404).end()
    }
  }

  function sendBack({ searchParams: query }: URL, response: ServerResponse): void {
    const code = randomUUID()
    codes.set(code, {
      nonce: query.get('nonce'),
      challenge: query.get('code_challenge'),
      redirectUri: query.get('redirect_uri'),
    })
    const back = new URL(query.get('redirect_uri') ?? '')
    const parameters = { code, state: query.get('state') ?? undefined, iss: issuer, ...lies.callback }
    for (const [name, value] of Object.entries(parameters)) if (value !== undefined) back.searchParams.set(name, value)
    response.writeHead(303, { location: back.href }).end()
  }

  /** Requires the ID token of the session that ends. OpenID Connect RP-Initiated Logout 1.0 leaves that to the provider. */
  function endSession({ searchParams: query }: URL, response: ServerResponse): void {
    const back = query.get('post_logout_redirect_uri')
    const isOurs = query.get('client_id') === clientId && idTokens.has(query.get('id_token_hint') ?? '')
    if (isOurs && back !== null) response.writeHead(303, { location: back }).end()
    else response.writeHead(400).end()
  }

  async function redeem(request: IncomingMessage): Promise<Answer> {
    const form = new URLSearchParams(await text(request))
    const code = form.get('code') ?? ''
    const issued = codes.get(code)
    codes.delete(code)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!isClient(request.headers.authorization)) return { status: 401, error: 'invalid_client' }
    if (issued?.challenge !== challenge || issued.redirectUri !== form.get('redirect_uri')) {
      return { status: 400, error: 'invalid_grant' }
    }
    const idToken = await keys.sign(idClaims(issued.nonce), { ...lies, secret: clientSecret })
    const tokens = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` }
    idTokens.add(idToken)
    sent.push(idToken, ...Object.values(tokens))
    return { ...tokens, id_token: idToken, token_type: 'Bearer', expires_in: 60, scope: 'openid email' }
  }

  function idClaims(nonce: string | null): object {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer,
      sub: subject,
      aud: clientId,
      iat: now,
      exp: now + 300,
      nonce,
      auth_time: now,
      sid: `sid-of-${subject}`,
    }
    return withoutUndefined({ ...claims, email, email_verified: true, ...lies.claims })
  }

  return {
    issuer,
    lies,
    keys,
    /** Requests to each endpoint. */
    asked,
    /** Every token issued. */
    tokens: sent,
    /** Sets who signs in next. */
    say(who: { readonly subject: string; readonly email: unknown }) {
      subject = who.subject
      email = who.email
    },
    beHonest() {
      Object.assign(lies, honest)
    },
    /** Its entry in the configuration file. */
    settings: (changes: object = {}) => ({
      id: 'firm',
      name: 'Firm account',
      issuer,
      client_id: clientId,
      client_secret: clientSecret,
      ...changes,
    }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

let certificate: ReturnType<typeof createCertificate> | undefined

/** One for all providers of a process: given two with the same name, a client may try the wrong one. */
function trustedCertificate(): ReturnType<typeof createCertificate> {
  if (certificate !== undefined) return certificate
  certificate = createCertificate()
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), certificate.cert])
  return certificate
}

/** Id and secret are form-encoded before they are joined (RFC 6749 section 2.3.1). */
function isClient(authorization = ''): boolean {
  const [, credentials = ''] = /^Basic (.+)$/.exec(authorization) ?? []
  const parts = Buffer.from(credentials, 'base64').toString().split(':').map(decodeURIComponent)
  return parts[0] === clientId && parts[1] === clientSecret && parts.length === 2
}

function metadata(issuer: string): Answer {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    userinfo_endpoint: `${issuer}/userinfo`,
    end_session_endpoint: `${issuer}/end`,
    authorization_response_iss_parameter_supported: true,
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256', 'none'],
  }
}

/** A response body, and its status if not 200. */
interface Answer {
  readonly status?: number
  readonly [name: string]: unknown
}

/** Sends JSON, or the failure. */
async function tell(
  response: ServerResponse,
  { delay }: Pick<Lies, 'delay'>,
  lie: Failure | Readonly<Record<string, unknown>>,
  honestly: Answer | (() => Promise<Answer>),
): Promise<void> {
  if (lie === 'slow') await new Promise((resolve) => setTimeout(resolve, delay).unref())
  const headers = { 'content-type': 'application/json' }
  if (lie === 'error') return void response.writeHead(500, headers).end('{"oops":')
  if (lie === 'malformed')
    return void response.writeHead(200, headers).end('{"access_token": "secret-in-a-broken-answer')
  if (lie === 'not an object') return void response.writeHead(200, headers).end('[]')
  if (lie === 'cut') return void response.writeHead(200, headers).write('{"a":', () => response.destroy())
  const honestAnswer = typeof honestly === 'function' ? await honestly() : honestly
  const { status = 200, ...body }: Answer = { ...honestAnswer, ...(typeof lie === 'object' && lie) }
  // Correct but for its size.
  const padding = lie === 'huge' ? { padding: 'x'.repeat(5 * 1024 * 1024) } : {}
  response.writeHead(status, headers).end(JSON.stringify(withoutUndefined({ ...body, ...padding })))
}

function withoutUndefined(object: object): object {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined))
}
