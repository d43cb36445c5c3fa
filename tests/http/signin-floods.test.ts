import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { objectAt } from '../support/json.ts'
import { openPortal } from '../support/portal.ts'
import { createProfile, type Page } from '../support/profile.ts'
import { setUp } from '../support/fixture.ts'

const perMinute = 12

// A fixed clock: the limit per minute must not refill on a slow machine.
let time = Date.now()
const pass = (seconds: number) => void (time += seconds * 1000)

setUp(() => mock.method(Date, 'now', () => time))
const { portal } = openPortal(() => ({ signIn: { starts_per_minute: perMinute }, trustedProxies: ['127.0.0.1'] }))

/** A browser at that address, as the proxy reports it. */
function browserAt(address: string) {
  const profile = createProfile(portal.service)
  const headers = { 'x-forwarded-for': address }
  return {
    cookies: profile.cookies,
    start: (accept = 'application/json') => profile.ask('/auth/start/firm', { headers: { ...headers, accept } }),
    back: (callback: string | URL) => profile.ask(callback, { headers }),
    callbackOf: (start: Page) => profile.callbackOf(new URL(start.location ?? '')),
  }
}

async function rows(table: string, condition = 'true'): Promise<number> {
  const [row] = await portal.service.database.rows<{ n: bigint }>(
    `select count(*) as n from ${table} where ${condition}`,
  )
  return Number(row?.n)
}

/** The wait in seconds that a rate-limit refusal states. */
function waitOf(page: Page): number {
  assert.equal(page.status, 429, page.text)
  const { code, limit } = objectAt(page.json, 'error')
  assert.deepEqual(
    [code, limit],
    ['too_many_sign_ins', { name: 'sign_ins_per_minute', value: perMinute, remaining: 0 }],
  )
  assert.deepEqual(page.headers.getSetCookie(), [])
  return Number(page.headers.get('retry-after'))
}

describe('a flood of sign-ins from one network', () => {
  test('is refused beyond the limit per minute, stores no more attempts, and affects no other network', async () => {
    const flood = await Promise.all(Array.from({ length: 200 }, (_, n) => browserAt(`192.0.2.${n}`).start()))
    const refused = flood.filter(({ status }) => status !== 303)
    assert.ok(refused.length >= 200 - perMinute - 2, `${refused.length} were refused`)
    for (const page of refused) {
      const wait = waitOf(page)
      assert.ok(wait >= 1 && wait <= 5, `${wait}`)
    }
    assert.equal(await rows('sign_in_attempt'), 200 - refused.length)

    portal.newcomer()
    const other = browserAt('198.51.100.7')
    assert.equal((await other.back(await other.callbackOf(await other.start()))).status, 303)
    assert.ok(other.cookies().get('session'))
  })

  test('shows a browser a page', async () => {
    const page = await browserAt('192.0.2.1').start('text/html')
    assert.equal(page.status, 429)
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/)
    assert.ok(Number(page.headers.get('retry-after')) >= 1)
    assert.match(page.text, /too_many_sign_ins/)
  })

  test('leaves a sign-in whose callback is refused meanwhile usable after the wait', async () => {
    portal.newcomer()
    const person = browserAt('203.0.113.7')
    const callback = await person.callbackOf(await person.start())
    const attacker = browserAt('203.0.113.8')
    const answers = await Promise.all(Array.from({ length: 40 }, () => attacker.back('/auth/callback?state=x&code=y')))
    assert.ok(answers.some(({ status }) => status === 429))
    const wait = waitOf(await person.back(callback))
    pass(wait)
    assert.equal((await person.back(callback)).status, 303)
    assert.ok(person.cookies().get('session'))
  })
})

test('B94: refusals of one network reach the audit log at most ten times a minute', async () => {
  const noted = await rows('audit', `action = 'sign_in_failed'`)
  const browser = browserAt('2001:db8:1::7')
  for (let n = 0; n < perMinute; n++) {
    const { searchParams } = new URL((await browser.start()).location ?? '')
    const refusal = new URLSearchParams({
      error: 'access_denied',
      iss: portal.provider.issuer,
      state: searchParams.get('state') ?? '',
    })
    assert.equal((await browser.back(`/auth/callback?${refusal.toString()}`)).status, 400)
  }
  assert.equal(await rows('audit', `action = 'sign_in_failed'`), noted + 10)
})
