import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { pino } from 'pino'
import { exchange } from '../../../../tests/support/echo-server.ts'
import { objectAt, parseObject, type Json } from '../../../../tests/support/json.ts'
import { createServer } from '../http.ts'
import type { Server } from '../server.ts'
import { registerAssets } from './assets.ts'
import { loadPages } from './pages.ts'
import { Problem, type ProblemCode } from '../../problems.ts'
import { represent } from './representation.ts'
import { setUp, temporaryFolder } from '../../../../tests/support/fixture.ts'

const shell = `<html><head><script id="content" nonce="__NONCE__">__CONTENT__</script><script src="/a.js" nonce="__NONCE__"></script></head></html>`
const portalShell = shell.replace('</head>', '<!--__STYLE__--></head><!--__FIRST__-->')
/** Stands in for the program that is built from web/first. */
const firstPicture = `export function firstPicture({ address, viewer }) {
  if (address === '/undrawable') throw new Error('no picture')
  return '<main>' + address + ' for ' + viewer.name + '</main>'
}`
const browser = 'text/html,application/xhtml+xml,*/*;q=0.8'
const signInUrl = (returnTo: string) => `/login?to=${encodeURIComponent(returnTo)}`
const hostile = '</script><script>alert(1)</script><!--\u2028__NONCE__ __CONTENT__ &lt;'

const folder = temporaryFolder()
let server: Server
let port: number

setUp(async () => {
  await writeShells(folder, { portal: portalShell, signIn: `${shell}<!-- sign-in -->` })
  await writeFile(path.join(folder, 'assets/app-1.js'), 'export const plain = 1')
  await writeFile(path.join(folder, 'assets/app-1.js.br'), 'brotli')
  await writeFile(path.join(folder, 'sign-in/assets/sign-in-1.js'), 'export const small = 1')
  await writeFile(path.join(folder, 'secret.txt'), 'not for anyone')
  const pages = await loadPages({ folder, viewer: () => ({ name: 'P' }), signInUrl, settings: { firm: 'F' } })
  server = createServer({ log: pino({ level: 'silent' }), requestBytes: 1024, baseUrl: 'https://tollgate.test', pages })
  server.jsonOnlyUrls.add('/v1', { noStore: true })
  server.jsonOnlyUrls.add('/docs')
  server.get('/clients/:id', async (request, reply) =>
    represent(reply, request, { status: 203, data: { text: hostile }, headers: { etag: '"7"', location: '/x' } }),
  )
  server.get('/signin', async (request, reply) =>
    represent(reply, request, { data: { text: hostile }, shell: 'sign-in' }),
  )
  server.get('/undrawable', async (request, reply) => represent(reply, request, { data: { text: hostile } }))
  server.all<{ Params: { code: ProblemCode } }>('/refuses/:code', async ({ params }) => {
    throw new Problem(params.code, 'A reason.', { retryAfter: 3 })
  })
  server.get('/v1/refuses', async () => {
    throw new Problem('forbidden', 'No.')
  })
  server.get('/fails', async () => {
    throw new TypeError('a text that must not leave')
  })
  registerAssets(server, pages.assets)
  await server.listen({ port: 0, host: '127.0.0.1' })
  port = Number(new URL(server.listeningOrigin).port)
})
after(() => server.close())

async function writeShells(to: string, { portal, signIn }: { portal: string; signIn: string }): Promise<void> {
  await mkdir(path.join(to, 'assets'), { recursive: true })
  await mkdir(path.join(to, 'sign-in/assets'), { recursive: true })
  await mkdir(path.join(to, 'first'))
  await writeFile(path.join(to, 'first/first.css'), 'main{color:teal}')
  await writeFile(path.join(to, 'first/first.js'), firstPicture)
  await writeFile(path.join(to, 'index.html'), portal)
  await writeFile(path.join(to, 'sign-in/index.html'), signIn)
}

async function get(url: string, accept?: string, method = 'GET', more = '') {
  const accepting = accept === undefined ? '' : `accept: ${accept}\r\n`
  const length = method === 'POST' ? 'content-length: 0\r\n' : ''
  return exchange(port, `${method} ${url} HTTP/1.1\r\nhost: x\r\n${accepting}${length}${more}\r\n`)
}

/** The data in a page. */
function contentOf(html: string): Json {
  return parseObject(/<script id="content"[^>]*>([^<]*)<\/script>/.exec(html)?.[1] ?? 'no content')
}

const fixed = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
}

describe('one URL', () => {
  test('is JSON for a program', async () => {
    for (const accept of [undefined, '*/*', 'application/json']) {
      const answer = await get('/clients/1', accept)
      assert.equal(answer.status, 203)
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
      assert.deepEqual(parseObject(answer.body), { text: hostile })
      assert.equal(answer.headers['etag'], '"7"')
    }
  })

  test('is the page for a browser, with the same status and the same data', async () => {
    const answer = await get('/clients/1?tab=notes', browser)
    assert.equal(answer.status, 203)
    assert.equal(answer.headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(answer.headers['location'], '/x')
    assert.equal(answer.headers['etag'], undefined, 'the ETag belongs to the other representation')
    assert.deepEqual(contentOf(answer.body), {
      address: '/clients/1?tab=notes',
      status: 203,
      data: { text: hostile },
      etag: '"7"',
      viewer: { name: 'P' },
      settings: { firm: 'F' },
    })
  })

  test('lets no text end the script element or replace a placeholder', async () => {
    const { body } = await get('/clients/1', browser)
    assert.equal(body.match(/<script/g)?.length, 2)
    assert.equal(body.includes('\u2028'), false)
    assert.equal(body.includes('<!--'), false)
    assert.equal(body.match(/__NONCE__/g)?.length, 1, 'only the occurrence in the text')
  })

  test('is rendered by the scripts that its route chooses, with the same content and the same protection', async () => {
    const [small, other] = await Promise.all([get('/signin?return_to=/me', browser), get('/clients/1', browser)])
    assert.match(small.body, /<!-- sign-in -->$/)
    assert.doesNotMatch(other.body, /<!-- sign-in -->/)
    const content = {
      address: '/signin?return_to=/me',
      status: 200,
      data: { text: hostile },
      viewer: { name: 'P' },
      settings: { firm: 'F' },
    }
    assert.deepEqual(contentOf(small.body), content)
    const nonce = /script-src 'nonce-([\w-]{22})';/.exec(String(small.headers['content-security-policy']))?.[1] ?? ''
    assert.equal(small.body.split(`nonce="${nonce}"`).length, 3)
    assert.deepEqual(parseObject((await get('/signin', 'application/json')).body), { text: hostile })
    assert.equal((await get('/assets/sign-in-1.js')).body, 'export const small = 1')
  })

  test('shows a picture until its scripts have arrived, if it can be drawn', async () => {
    const { body, headers } = await get('/clients/1', browser)
    const nonce = /style-src 'self' 'nonce-([\w-]{22})';/.exec(String(headers['content-security-policy']))?.[1] ?? ''
    assert.match(body, /<\/head><main>\/clients\/1 for P<\/main>/)
    assert.ok(body.includes(`nonce="${nonce}">main{color:teal}</style></head>`))
    assert.doesNotMatch((await get('/signin', browser)).body, /<main>|teal/)
    const undrawn = await get('/undrawable', browser)
    assert.equal(undrawn.status, 200)
    assert.doesNotMatch(undrawn.body, /<main>|no picture/)
    assert.deepEqual(contentOf(undrawn.body)['data'], { text: hostile })
  })

  test('is compressed with a padding of random length if the browser accepts it', async () => {
    const { body: plain } = await get('/undrawable', browser)
    assert.ok(plain.endsWith('</html>'))
    for (const coding of ['gzip', 'br']) {
      const answer = await fetch(`http://127.0.0.1:${port}/undrawable`, {
        headers: { accept: browser, 'accept-encoding': coding },
      })
      const body = await answer.text()
      assert.equal(answer.headers.get('content-encoding'), coding)
      assert.equal(answer.headers.get('vary'), 'Accept, Accept-Encoding')
      assert.match(body, /<\/html><!--[\w-]+-->$/)
      assert.deepEqual(contentOf(body)['data'], { text: hostile })
    }
  })

  test('is not cached and varies by Accept', async () => {
    for (const accept of ['application/json', browser]) {
      for (const url of ['/clients/1', '/refuses/forbidden', '/nowhere', '/fails', '/%ff']) {
        const { headers } = await get(url, accept)
        assert.equal(headers['cache-control'], 'no-store', `${url} ${accept}`)
        assert.match(String(headers['vary']), /\bAccept\b/, `${url} ${accept}`)
      }
    }
  })
})

describe('an error at a URL of the portal', () => {
  const codes = ['forbidden', 'stale_version', 'unavailable', 'provider_failed', 'sign_in_failed'] as const
  for (const code of codes) {
    test(`${code} is a page with the same status`, async () => {
      const json = await get(`/refuses/${code}`, 'application/json')
      const page = await get(`/refuses/${code}`, browser)
      assert.equal(page.status, json.status)
      assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
      assert.equal(page.headers['retry-after'], '3')
      const { request_id: pageId, ...shown } = objectAt(contentOf(page.body), 'error')
      const { request_id: jsonId, ...said } = objectAt(parseObject(json.body), 'error')
      assert.deepEqual(shown, said)
      assert.notEqual(pageId, jsonId)
      assert.equal(page.headers['request-id'], pageId)
    })
  }

  test('redirects a visitor to the sign-in page, with the way back', async () => {
    const page = await get('/refuses/not_signed_in?a=b&c=%2F', browser)
    assert.equal(page.status, 303)
    assert.equal(page.headers['location'], '/login?to=%2Frefuses%2Fnot_signed_in%3Fa%3Db%26c%3D%252F')
    assert.equal(page.body, '')
    assert.equal((await get('/refuses/not_signed_in', 'application/json')).status, 401)
    assert.equal((await get('/refuses/not_signed_in', browser, 'POST')).status, 401, 'a change is not repeated')
  })

  test('is a page for 404, 405 and 500', async () => {
    for (const [url, method, status] of [
      ['/nowhere', 'GET', 404],
      ['/clients/1', 'POST', 405],
      ['/fails', 'GET', 500],
      ['/%ff', 'GET', 404],
    ] as const) {
      const answer = await get(url, browser, method)
      assert.equal(answer.status, status)
      assert.equal(contentOf(answer.body)['status'], status)
      assert.doesNotMatch(answer.body, /must not leave/)
    }
  })

  test('is JSON on the generation API, whatever Accept says', async () => {
    for (const url of ['/v1/refuses', '/v1/nowhere', '/docs/nowhere', '/assets/nowhere.js']) {
      assert.equal((await get(url, browser)).headers['content-type'], 'application/json; charset=utf-8', url)
    }
  })
})

describe('B89 the security headers', () => {
  test('are on every response', async () => {
    for (const url of ['/clients/1', '/refuses/forbidden', '/nowhere', '/v1/refuses', '/fails', '/assets/app-1.js']) {
      for (const accept of ['*/*', browser]) {
        const { headers } = await get(url, accept)
        for (const [name, value] of Object.entries(fixed)) assert.equal(headers[name], value, `${url}: ${name}`)
        for (const directive of ['object-src', 'base-uri', 'frame-ancestors']) {
          assert.match(String(headers['content-security-policy']), new RegExp(`${directive} 'none'`), url)
        }
      }
    }
  })

  test('allow scripts by a nonce that differs on every response', async () => {
    const nonces = new Set<string>()
    for (const url of ['/clients/1', '/clients/1', '/nowhere']) {
      const { headers, body } = await get(url, browser)
      const policy = String(headers['content-security-policy'])
      const nonce = /script-src 'nonce-([\w-]{22})';/.exec(policy)?.[1] ?? ''
      nonces.add(nonce)
      assert.equal(body.split(`nonce="${nonce}"`).length, 4, 'both scripts of the shell and its style have it')
      assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    }
    assert.equal(nonces.size, 3)
  })

  test('require https only if base_url uses it', async () => {
    const plain = createServer({ log: pino({ level: 'silent' }), requestBytes: 1, baseUrl: 'http://localhost:8080' })
    await plain.listen({ port: 0, host: '127.0.0.1' })
    const own = Number(new URL(plain.listeningOrigin).port)
    const { headers } = await exchange(own, 'GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n')
    assert.equal(headers['strict-transport-security'], undefined)
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin')
    await plain.close()
  })
})

describe('the files of the pages', () => {
  test('are cached permanently, and compressed if the client accepts it', async () => {
    const plain = await get('/assets/app-1.js')
    assert.equal(plain.body, 'export const plain = 1')
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable')
    assert.match(String(plain.headers['content-type']), /^(text|application)\/javascript/)
    const small = await get('/assets/app-1.js', '*/*', 'GET', 'accept-encoding: gzip, br\r\n')
    assert.equal(small.body, 'brotli')
    assert.equal(small.headers['content-encoding'], 'br')
    assert.equal(small.headers['vary'], 'Accept-Encoding')
    for (const taken of ['gzip', 'br;q=0, deflate', 'brx']) {
      const other = await get('/assets/app-1.js', '*/*', 'GET', `accept-encoding: ${taken}\r\n`)
      assert.equal(other.headers['content-encoding'], undefined, taken)
    }
  })

  test('are served after a rebuild has deleted them', async () => {
    const file = path.join(folder, 'assets/app-1.js')
    await rm(file)
    const { status, body } = await get('/assets/app-1.js')
    await writeFile(file, 'export const plain = 1')
    assert.deepEqual([status, body], [200, 'export const plain = 1'])
  })

  test('are the only ones, and a 404 is not cached', async () => {
    for (const url of ['/assets/../secret.txt', '/assets/%2e%2e/secret.txt', '/assets/..%2fsecret.txt', '/assets/']) {
      const answer = await get(url)
      assert.equal(answer.status, 404, url)
      assert.doesNotMatch(answer.body, /not for anyone/)
    }
    const missing = await get('/assets/gone-1.js')
    assert.equal(missing.status, 404)
    assert.doesNotMatch(String(missing.headers['cache-control']), /immutable/)
  })
})

const viewer = () => undefined

test('a missing or invalid build is reported in one line', async () => {
  const missing = path.join(folder, 'gone')
  await assert.rejects(
    loadPages({ folder: missing, viewer, signInUrl, settings: {} }),
    /not built.*node scripts\/setup\.js/,
  )
  const other = path.join(folder, 'assets')
  await writeFile(path.join(other, 'index.html'), '<html></html>')
  await assert.rejects(loadPages({ folder: other, viewer, signInUrl, settings: {} }), /is not a build of web/)
})
