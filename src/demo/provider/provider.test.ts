import assert from 'node:assert/strict'
import { createServer, request, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { createLocalJWKSet, jwtVerify } from 'jose'
import * as oidc from 'openid-client'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { createVisitor, type Page, type Visitor } from '../../../tests/support/visitor.ts'
import { listen } from '../../../tests/support/server.ts'
import { openDemoProvider } from './provider.ts'
import { settingsOf } from './provider-settings.ts'

let baseUrl: string
const told: URLSearchParams[] = []
const { log, text: logged } = createTestLog()
let provider: Awaited<ReturnType<typeof openAt>>
let issuer: string
let client: oidc.Configuration

/** A portal as the provider sees it: it receives back-channel logouts. */
const portal = fixture(() =>
  createServer((incoming, response) => {
    void hear(incoming).finally(() => response.end())
  }),
)
setUp(async () => {
  baseUrl = `http://localhost:${await listen(portal)}`
  provider = await openAt(0)
  issuer = provider.settings.issuer
  const { client_id: id, client_secret: secret } = provider.settings
  const execute = [oidc.allowInsecureRequests]
  client = await oidc.discovery(new URL(issuer), id, secret, oidc.ClientSecretBasic(secret), { execute })
})
after(async () => {
  await provider.close()
  assert.doesNotMatch(logged(), /failed|could not/)
})

async function openAt(port: number) {
  const clientSecret = 'a secret of both'
  const opened = await openDemoProvider({ baseUrl, port, mailPort: 0, clientSecret }, log)
  return { settings: settingsOf(opened.issuer, clientSecret), close: () => opened.close() }
}

async function hear(incoming: IncomingMessage): Promise<void> {
  assert.equal(incoming.url, '/auth/backchannel-logout/demo')
  told.push(new URLSearchParams(await text(incoming)))
}

/** The authorization URL of the portal, and what it has to check later. */
async function begin(parameters: Record<string, string> = {}) {
  const verifier = oidc.randomPKCECodeVerifier()
  const expected = { expectedState: oidc.randomState(), expectedNonce: oidc.randomNonce() }
  const address = oidc.buildAuthorizationUrl(client, {
    redirect_uri: `${baseUrl}/auth/callback`,
    scope: 'openid email',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: expected.expectedState,
    nonce: expected.expectedNonce,
    ...parameters,
  })
  return { address: address.href, checks: { ...expected, pkceCodeVerifier: verifier, idTokenExpected: true } }
}

/** Presses a person's button; returns the callback URL. */
async function choose(visitor: Visitor, page: Page, subject: string): Promise<URL> {
  assert.match(page.text, new RegExp(`formaction="${new URL(page.url).pathname}/${subject}"`))
  const resumed = await visitor.ask(`${page.url}/${subject}`, { method: 'POST' })
  assert.equal(resumed.status, 303)
  const back = await visitor.ask(resumed.headers.get('location') ?? '')
  assert.equal(back.status, 303)
  return new URL(back.headers.get('location') ?? '')
}

async function signIn(visitor: Visitor, subject: string) {
  const { address, checks } = await begin()
  const page = await visitor.visit(address)
  assert.equal(page.status, 200)
  const tokens = await oidc.authorizationCodeGrant(client, await choose(visitor, page, subject), checks)
  const claims = tokens.claims()
  assert.ok(claims)
  return { tokens, claims }
}

describe('the demo’s provider', () => {
  test('signs in the chosen person, with a verified email address and a session id', async () => {
    const { claims, tokens } = await signIn(createVisitor(), 'daniel')
    assert.equal(claims.sub, 'daniel')
    assert.equal(claims['email'], 'daniel@penhallow.example')
    assert.equal(claims['email_verified'], true)
    assert.equal(typeof claims['sid'], 'string')
    assert.deepEqual(await oidc.fetchUserInfo(client, tokens.access_token, 'daniel'), {
      sub: 'daniel',
      email: 'daniel@penhallow.example',
      email_verified: true,
    })
  })

  test('offers every person, on a page without scripts', async () => {
    const page = await createVisitor().visit((await begin()).address)
    for (const words of ['Ruth Penhallow', 'Daniel Okonjo', 'Mei Sakamoto', 'the Tollgate demo'])
      assert.ok(page.text.includes(words), words)
    assert.doesNotMatch(page.text, /<script|<style| style=|javascript:| on\w+=/i)
    assert.equal(
      page.headers.get('content-security-policy'),
      `default-src 'none'; style-src 'self'; img-src data:; frame-src 'self'; form-action 'self' ${baseUrl}; base-uri 'none'; frame-ancestors 'none'`,
    )
    assert.equal(page.headers.get('cache-control'), 'no-store')
    const style = await createVisitor().ask(`${issuer}/page.css`)
    assert.match(style.headers.get('content-type') ?? '', /^text\/css/)
  })

  test('asks again after a sign-in, and choosing another person ends the previous session at the portal', async () => {
    told.length = 0
    const visitor = createVisitor()
    const first = await signIn(visitor, 'ruth')
    const again = await signIn(visitor, 'ruth')
    assert.deepEqual(told, [])
    const other = await signIn(visitor, 'mei')
    assert.equal(other.claims.sub, 'mei')
    assert.notEqual(other.claims['sid'], first.claims['sid'])
    assert.equal(again.claims['sid'], first.claims['sid'])
    assert.deepEqual(
      (await logoutTokens()).map(({ sub, sid }) => ({ sub, sid })),
      [{ sub: 'ruth', sid: first.claims['sid'] }],
    )
  })

  test('lets two tabs choose different people, one after the other', async () => {
    const visitor = createVisitor()
    await signIn(visitor, 'ruth')
    const tabs = await Promise.all([begin(), begin()])
    const pages = await Promise.all(tabs.map(({ address }) => visitor.visit(address)))
    for (const [index, subject] of ['mei', 'daniel'].entries()) {
      const [tab, page] = [tabs[index], pages[index]]
      assert.ok(tab !== undefined && page !== undefined)
      const tokens = await oidc.authorizationCodeGrant(client, await choose(visitor, page, subject), tab.checks)
      assert.equal(tokens.claims()?.sub, subject)
    }
  })

  test('signs out, sends a back-channel logout, and redirects to the registered URL', async () => {
    told.length = 0
    const visitor = createVisitor()
    const { claims } = await signIn(visitor, 'mei')
    const out = oidc.buildEndSessionUrl(client, { post_logout_redirect_uri: `${baseUrl}/signin`, state: 'x y' })
    const answer = await visitor.ask(out.href)
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, `${baseUrl}/signin?state=x+y`])
    const [token] = await logoutTokens()
    assert.equal(token?.['sid'], claims['sid'])
    assert.deepEqual(token?.['events'], { 'http://schemas.openid.net/event/backchannel-logout': {} })
    assert.equal(visitor.cookies(issuer).includes('tollgate_demo_session='), false)

    const twice = await visitor.ask(out.href)
    assert.equal(twice.status, 303)
    assert.equal(told.length, 1)
  })
})

describe('the provider refuses', () => {
  test('a redirect to an address that is not the portal’s', async () => {
    for (const address of ['https://evil.example/auth/callback', `${baseUrl}/auth/callback/`, `${baseUrl}/clients`]) {
      const { address: start } = await begin({ redirect_uri: address })
      const answer = await createVisitor().ask(start)
      assert.deepEqual([answer.status, answer.headers.get('location')], [400, null], address)
    }
    for (const address of ['https://evil.example/', `${baseUrl}/signin@evil.example`, '//evil.example']) {
      const answer = await createVisitor().ask(
        `${issuer}/session/end?${String(new URLSearchParams({ post_logout_redirect_uri: address }))}`,
      )
      assert.deepEqual([answer.status, answer.headers.get('location')], [200, null], address)
    }
  })

  test('any host name other than its own', async () => {
    const { host, port } = new URL(issuer)
    for (const name of [
      'evil.example',
      `evil.example:${port}`,
      `localhost:${port}`,
      `127.0.0.1`,
      `127.0.0.1.evil.example:${port}`,
    ]) {
      for (const path of [
        '/',
        '/.well-known/openid-configuration',
        '/auth',
        '/interaction/x',
        '/session/end',
        '/token',
      ]) {
        assert.equal(await statusAs(name, path), 421, `${name} ${path}`)
      }
    }
    assert.equal(await statusAs(host, '/'), 200)
  })

  test('a choice from another browser, a choice of an unknown person, and a late choice', async () => {
    const page = await createVisitor().visit((await begin()).address)
    const stranger = createVisitor()
    assert.equal((await stranger.ask(page.url)).status, 400)
    assert.equal((await stranger.ask(`${page.url}/ruth`, { method: 'POST' })).status, 400)
    const visitor = createVisitor()
    const own = await visitor.visit((await begin()).address)
    assert.equal((await visitor.ask(`${own.url}/nobody`, { method: 'POST' })).status, 400)
    await choose(visitor, own, 'ruth')
    assert.equal((await visitor.ask(`${own.url}/ruth`, { method: 'POST' })).status, 400)
  })

  test('a code without its verifier, without the client secret, or used twice', async () => {
    const visitor = createVisitor()
    const { address, checks } = await begin()
    const back = await choose(visitor, await visitor.visit(address), 'ruth')
    const stranger = await oidc.discovery(
      new URL(issuer),
      provider.settings.client_id,
      'guessed',
      oidc.ClientSecretBasic('guessed'),
      {
        execute: [oidc.allowInsecureRequests],
      },
    )
    await assert.rejects(oidc.authorizationCodeGrant(stranger, back, checks), { status: 401 })
    await assert.rejects(
      oidc.authorizationCodeGrant(client, back, { ...checks, pkceCodeVerifier: oidc.randomPKCECodeVerifier() }),
      { error: 'invalid_grant' },
    )
    await oidc.authorizationCodeGrant(client, back, checks)
    await assert.rejects(oidc.authorizationCodeGrant(client, back, checks), { error: 'invalid_grant' })
  })

  test('a request without PKCE', async () => {
    const { address } = await begin()
    const open = new URL(address)
    open.searchParams.delete('code_challenge')
    open.searchParams.delete('code_challenge_method')
    const answer = await createVisitor().ask(open.href)
    const { origin, searchParams } = new URL(answer.headers.get('location') ?? '')
    assert.deepEqual([origin, searchParams.get('error'), searchParams.get('code')], [baseUrl, 'invalid_request', null])
  })

  test('a cancelled sign-in with access_denied', async () => {
    const visitor = createVisitor()
    const { address, checks } = await begin()
    const back = await choose(visitor, await visitor.visit(address), 'cancel')
    await assert.rejects(oidc.authorizationCodeGrant(client, back, checks), { error: 'access_denied' })
  })
})

test('it listens only on the loopback address, and on another port if its own is taken', async () => {
  const second = await openAt(Number(new URL(issuer).port))
  try {
    assert.match(second.settings.issuer, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.notEqual(second.settings.issuer, issuer)
    await assert.rejects(fetch(second.settings.issuer.replace('127.0.0.1', '127.0.0.2')))
  } finally {
    await second.close()
  }
  await assert.rejects(fetch(second.settings.issuer))
  const third = await openAt(Number(new URL(second.settings.issuer).port))
  await third.close()
  assert.equal(third.settings.issuer, second.settings.issuer)
})

/** The back-channel logouts that the portal received, each one validated. */
async function logoutTokens() {
  const keys: unknown = await (await fetch(`${issuer}/jwks`)).json()
  assert.ok(isKeySet(keys))
  const verify = createLocalJWKSet(keys)
  return Promise.all(
    told.map(async (form) => {
      const { payload } = await jwtVerify(form.get('logout_token') ?? '', verify, {
        issuer,
        audience: provider.settings.client_id,
        typ: 'logout+jwt',
      })
      return payload
    }),
  )
}

function isKeySet(value: unknown): value is Parameters<typeof createLocalJWKSet>[0] {
  return typeof value === 'object' && value !== null && 'keys' in value && Array.isArray(value.keys)
}

/** Without `fetch`, which always sends the host that it connects to. */
function statusAs(name: string, path: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, issuer), { headers: { host: name } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    asked.on('error', reject).end()
  })
}
