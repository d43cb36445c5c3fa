import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { beforeEach, test } from 'node:test'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { log } from '../../../tests/support/tills.ts'
import { valuesOf } from '../../../tests/support/json.ts'
import type { MailMessage } from '../../mail/mailer.ts'
import { createKnownBrowsers } from './known-browsers.ts'

let mails: MailMessage[]
let time: number
const clock = () => time
const mailer = { send: async (_tx: unknown, mail: MailMessage) => void mails.push(mail) }
const needs = { baseUrl: 'https://tollgate.test', timeZone: 'Europe/Berlin', clock }

const { database } = openOwnDatabase(log)
beforeEach(() => {
  mails = []
  time = Date.UTC(2026, 10, 29, 10, 38)
})

async function person(email: string | null): Promise<string> {
  const id = randomUUIDv7()
  const row = [id, email, email?.toLowerCase()]
  await database.rows(
    `insert into person (id, name, email, email_key, role, created_at) values ($1, 'Anna', $2, $3, 'consultant', now())`,
    row,
  )
  return id
}

/** Signs in; returns the cookies that the browser has then. */
async function signIn(personId: string, cookies = '', { welcome } = createKnownBrowsers({ ...needs, mailer })) {
  const visitor = { cookies, device: 'Firefox on Linux', network: '203.0.113.0/24' }
  const line = await database.transaction((tx) => welcome(tx, personId, visitor))
  assert.match(line, /^__Host-browser-[\w-]{8}=[\w-]{43}; Path=\/; Max-Age=34560000; HttpOnly; Secure; SameSite=Lax$/)
  return `${cookies}; ${line.split(';')[0]}`
}

test('a person gets one mail for each further browser, and none for the first', async () => {
  const anna = await person('Anna@example.com')
  const first = await signIn(anna)
  assert.deepEqual(mails, [])
  const second = await signIn(anna)
  const values = {
    device: 'Firefox on Linux',
    network: '203.0.113.0/24',
    at: '29 November 2026 at 11:38 (Europe/Berlin)',
  }
  assert.deepEqual(mails, [{ to: 'Anna@example.com', template: 'new_browser', values }])
  for (const known of [first, second, second])
    assert.equal((await signIn(anna, known)).split('; ').at(-1), known.slice(2))
  assert.equal(mails.length, 1)
})

test('people who share a browser are known in it, each by a cookie of their own', async () => {
  const [anna, ben] = [await person('a@example.com'), await person('b@example.com')]
  await signIn(ben)
  const shared = await signIn(ben, await signIn(anna))
  assert.deepEqual(valuesOf(mails, 'to'), ['b@example.com'])
  await signIn(ben, await signIn(anna, shared))
  assert.equal(mails.length, 1)
})

test('a value is never adopted from a browser, and that of another person counts for nothing', async () => {
  const [anna, ben] = [await person('c@example.com'), await person('d@example.com')]
  const [ofAnna, ofBen] = [await signIn(anna), await signIn(ben)]
  const nameOfAnna = /[^; ]+(?==)/.exec(ofAnna)?.[0]
  const valueOfBen = ofBen.split('=')[1]
  for (const value of ['x'.repeat(43), valueOfBen]) {
    const planted = `${nameOfAnna}=${value}`
    assert.notEqual((await signIn(anna, planted)).split('; ').at(-1), planted)
  }
  assert.equal(mails.length, 2)
})

test('a browser is forgotten 400 days after the last sign-in', async () => {
  const anna = await person('e@example.com')
  const known = await signIn(anna)
  time += 400 * 86_400_000 - 1
  await signIn(anna, known)
  time += 86_400_000
  await signIn(anna)
  assert.equal(mails.length, 1)
})

test('nothing is sent without an address, or without a mail server', async () => {
  const nobody = await person(null)
  await signIn(nobody)
  await signIn(nobody)
  const anna = await person('f@example.com')
  const mute = createKnownBrowsers({ ...needs, mailer: undefined })
  await signIn(anna, '', mute)
  await signIn(anna, '', mute)
  assert.deepEqual(mails, [])
})
