import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { byService, personActor } from '../../src/access/actor.ts'
import { recentRoutes } from '../../src/signin/session/recent-routes.ts'
import type { Answer } from '../support/answer.ts'
import { startFirm } from '../support/firm.ts'
import { at as field } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { routesOf } from '../support/routes.ts'

/**
 * The status of every route for a visitor who is not signed in, the client's consultant, another consultant, its former
 * consultant, a disabled one, a developer, and a partner. A route under any prefix that is in none of the three tables fails the test.
 */
const actors = ['anonymous', 'own', 'other', 'former', 'disabled', 'developer', 'partner'] as const
type Actor = (typeof actors)[number]
type Statuses = Readonly<Record<Actor, number>>

const signedIn = (own: number, other: number, partner = own, developer = 403): Statuses => ({
  anonymous: 401,
  own,
  other,
  former: other,
  disabled: 401,
  developer,
  partner,
})
/** On the person's own client: others are refused as if it did not exist. */
const record = (status: number) => signedIn(status, 403)
/** For everyone who works for clients. */
const forClients = (status: number) => signedIn(status, status)
/** On the person's own data, for every signed-in person. */
const everyone = (status: number) => signedIn(status, status, status, status)
const partners = (status: number) => signedIn(403, 403, status)
/** Sign-in routes, which have their own tests. */
const open = (status: number): Statuses => ({
  anonymous: status,
  own: status,
  other: status,
  former: status,
  disabled: status,
  developer: status,
  partner: status,
})

interface Entry {
  readonly statuses: Statuses
  readonly body?: object
  /** Sent with If-Match "1". */
  readonly based?: true
  readonly headers?: Readonly<Record<string, string>>
}

const item = (plural: string, fresh: object, change: object): Record<string, Entry> => ({
  [`GET /clients/:client/${plural}`]: { statuses: record(200) },
  [`POST /clients/:client/${plural}`]: { statuses: record(201), body: fresh },
  [`GET /clients/:client/${plural}/:item`]: { statuses: record(200) },
  [`PATCH /clients/:client/${plural}/:item`]: { statuses: record(200), body: change, based: true },
  [`DELETE /clients/:client/${plural}/:item`]: { statuses: record(204), based: true },
  [`POST /clients/:client/${plural}/:item/restore`]: { statuses: record(200), based: true },
  [`GET /clients/:client/${plural}/:item/revisions`]: { statuses: record(200) },
})

const digest = createHash('sha256').update('secret-marker').digest('hex')

const matrix: Readonly<Record<string, Entry>> = {
  'GET /': { statuses: signedIn(200, 200, 200, 303) },
  'GET /clients': { statuses: forClients(200) },
  'POST /clients': { statuses: forClients(201), body: { name: 'New' } },
  'POST /clients/handover': {
    statuses: partners(400),
    body: { clients: [{ id: 'unknown', version: 1 }], to: 'unknown' },
  },
  'GET /clients/:client': { statuses: record(200) },
  'PATCH /clients/:client': { statuses: record(200), body: { name: 'Changed' }, based: true },
  'DELETE /clients/:client': { statuses: partners(204), based: true },
  'POST /clients/:client/restore': { statuses: partners(200) },
  'GET /clients/:client/export': { statuses: record(200) },
  'GET /clients/:client/erasure': { statuses: partners(200) },
  'POST /clients/:client/erasure': { statuses: partners(201), body: { reason: 'Asked for.' } },
  'DELETE /clients/:client/erasure': { statuses: partners(404) },
  'GET /erasures': { statuses: partners(200) },
  'GET /clients/:client/revisions': { statuses: record(200) },
  'GET /clients/:client/activity': { statuses: record(200) },
  ...item('notes', { date: '2026-03-12', text: 'New' }, { text: 'Changed' }),
  ...item('disputes', { invoice: 'New', amount: '1' }, { amount: '2' }),
  ...item('letters', { subject: 'New' }, { body: 'Changed' }),
  ...item('documents', { name: 'New', digest }, { name: 'Changed' }),
  ...item('tasks', { title: 'New' }, { status: 'done' }),
  ...item('contacts', { name: 'New' }, { phone: '1' }),
  'GET /clients/:client/documents/:item/content': { statuses: record(200) },
  'POST /clients/:client/uploads': { statuses: record(201) },
  'GET /clients/:client/uploads/:upload': { statuses: record(200) },
  // It is complete.
  'PATCH /clients/:client/uploads/:upload': { statuses: record(409), headers: { 'upload-offset': '0' } },
  ...item('time_entries', { date: '2026-03-12', minutes: 20, rate: '100', text: 'New' }, { minutes: 30 }),
  ...item('expenses', { date: '2026-03-12', amount: '5', text: 'New' }, { amount: '6' }),
  'POST /clients/:client/timer': { statuses: record(201), body: {} },
  'GET /timer': { statuses: forClients(200) },
  // tests/http/timer.test.ts has those that exist.
  'POST /timer/:timer/stop': { statuses: forClients(404) },
  'DELETE /timer/:timer': { statuses: forClients(404) },
  'POST /clients/:client/letters/:item/versions': { statuses: record(201) },
  // Without drafting in the configuration, as here. tests/http/drafting.test.ts has it.
  'POST /clients/:client/drafts': { statuses: record(409), body: { instructions: 'Write.', notes: ['unknown'] } },
  'GET /clients/:client/drafts': { statuses: record(200) },
  'GET /clients/:client/drafts/:draft': { statuses: signedIn(403, 403, 404) },
  'GET /clients/:client/drafts/:draft/check': { statuses: signedIn(403, 403, 404) },
  'POST /clients/:client/drafts/:draft/stop': { statuses: signedIn(403, 403, 404) },
  'GET /clients/:client/costs': { statuses: record(200) },
  'GET /templates': { statuses: forClients(200) },
  'POST /templates': { statuses: partners(201), body: { kind: 'Letter', name: 'New', instructions: 'Write.' } },
  'PATCH /templates/:template': { statuses: partners(404), body: { name: 'Changed' }, based: true },
  'DELETE /templates/:template': { statuses: partners(404) },
  'GET /templates/:template/revisions': { statuses: forClients(404) },
  // Without a mail server, as here. tests/http/letter-mail.test.ts has one.
  'GET /clients/:client/letters/:item/mail': { statuses: record(409) },
  'POST /clients/:client/letters/:item/send': {
    statuses: record(409),
    body: { to: [{ contact: null, email: 'client@example.com' }] },
    based: true,
  },
  'GET /clients/:client/letters/:item/mails': { statuses: record(200) },
  'GET /clients/:client/letters/:item/mails/:mail/pdf': { statuses: signedIn(403, 403, 404) },
  // tests/http/letter-review.test.ts asks people who can review.
  'GET /clients/:client/letters/:item/reviews': { statuses: record(200) },
  'POST /clients/:client/letters/:item/reviews': { statuses: record(400), body: { reviewer: 'unknown' }, based: true },
  'POST /clients/:client/letters/:item/reviews/:review/return': {
    statuses: signedIn(403, 403, 404),
    body: { reason: 'The fee.' },
    based: true,
  },
  'DELETE /clients/:client/letters/:item/reviews/:review': { statuses: signedIn(403, 403, 404) },
  'GET /clients/:client/letters/:item/pdf': { statuses: record(200) },
  'GET /clients/:client/letters/:item/docx': { statuses: record(200) },
  'GET /clients/:client/letters/:item/print': { statuses: record(200) },
  'GET /search': { statuses: forClients(200) },
  'GET /audit': { statuses: partners(200) },
  'POST /audit/verification': { statuses: partners(200) },
  'GET /usage': { statuses: partners(200) },
  'GET /usage/requests': { statuses: partners(200) },
  'GET /usage/requests/:id': { statuses: partners(404) },
  'GET /people': { statuses: partners(200) },
  'PATCH /people/:id': { statuses: partners(404), body: { role: 'partner' } },
  'DELETE /people/:id': { statuses: partners(404) },
  'DELETE /people/:id/sessions': { statuses: partners(404) },
  'DELETE /people/:id/identities': { statuses: partners(404) },
  'DELETE /people/:id/factors': { statuses: partners(404) },
  'GET /people/:id/handover': { statuses: partners(404) },
  'POST /people/:id/handover': { statuses: partners(404), body: { to: 'unknown' } },
  'DELETE /people/sessions': { statuses: partners(200) },
  'POST /people/:id/accounts': { statuses: partners(404), body: { account: 'unknown' } },
  'DELETE /people/:id/accounts/:account': { statuses: partners(404) },
  'POST /people/invitations': {
    statuses: partners(201),
    body: { email: 'invited@firm.example', name: 'Invited', role: 'consultant' },
  },
  'POST /people/invitations/:id/resend': { statuses: partners(404) },
  'DELETE /people/invitations/:id': { statuses: partners(404) },
  // Of the accounts that they are granted: tests/http/developers.test.ts has some.
  'GET /accounts': { statuses: signedIn(403, 403, 200, 200) },
  'POST /accounts': { statuses: partners(400), body: { name: 'New', credit: 'much' } },
  'GET /accounts/:account': { statuses: partners(404) },
  'PATCH /accounts/:account': { statuses: partners(404), body: { name: 'Changed' }, based: true },
  'GET /accounts/:account/credit': { statuses: partners(404) },
  'POST /accounts/:account/credit': { statuses: partners(404), body: { amount: '1' } },
  'POST /accounts/:account/close': { statuses: partners(404) },
  'GET /accounts/:account/keys': { statuses: partners(404) },
  'GET /accounts/:account/usage': { statuses: partners(404) },
  'GET /accounts/:account/requests': { statuses: partners(404) },
  'GET /accounts/:account/requests/:id': { statuses: partners(404) },
  'POST /accounts/:account/keys': { statuses: partners(404), body: { name: 'New' } },
  'GET /accounts/:account/budgets': { statuses: partners(404) },
  'POST /accounts/:account/budgets': {
    statuses: partners(404),
    body: { name: 'New', amount: '1', period: 'day', tag: { name: 'project', value: 'Apollo' } },
  },
  'PATCH /accounts/:account/budgets/:budget': { statuses: partners(404), body: { amount: '2' } },
  'POST /accounts/:account/budgets/:budget/raise': { statuses: partners(404), body: { by: '1' } },
  'DELETE /accounts/:account/budgets/:budget': { statuses: partners(404) },
  'GET /accounts/:account/batches': { statuses: partners(404) },
  'POST /accounts/:account/batches/:batch/cancel': { statuses: partners(404) },
  'GET /accounts/:account/alerts': { statuses: partners(404) },
  'POST /accounts/:account/alerts': { statuses: partners(404), body: { shares: [80], email: 'a@example.com' } },
  'PATCH /accounts/:account/alerts/:alert': { statuses: partners(404), body: { shares: [50] } },
  'DELETE /accounts/:account/alerts/:alert': { statuses: partners(404) },
  'POST /accounts/:account/alerts/:alert/test': { statuses: partners(404) },
  'GET /accounts/:account/alerts/attempts': { statuses: partners(404) },
  'GET /invoices': { statuses: partners(200) },
  'GET /invoices.csv': { statuses: partners(400) },
  'GET /invoices/new': { statuses: partners(200) },
  'GET /invoices/report': { statuses: partners(200) },
  'GET /invoices/report.csv': { statuses: partners(400) },
  'GET /invoices/unbilled': { statuses: partners(200) },
  'GET /invoices/unbilled.csv': { statuses: partners(200) },
  'POST /invoices': { statuses: partners(400), body: { client: 'unknown' } },
  'GET /invoices/:invoice': { statuses: partners(404) },
  'GET /invoices/:invoice/pdf': { statuses: partners(404) },
  'GET /invoices/:invoice/xml': { statuses: partners(404) },
  'PATCH /invoices/:invoice': { statuses: partners(404), body: { note: 'Changed' }, based: true },
  'POST /invoices/:invoice/issue': { statuses: partners(404), based: true },
  'POST /invoices/:invoice/void': { statuses: partners(404), based: true },
  'POST /invoices/:invoice/payments': { statuses: partners(404), body: { date: '2026-03-12', amount: '1' } },
  'POST /invoices/:invoice/credit': { statuses: partners(404), body: {} },
  'GET /invoices/:invoice/mail': { statuses: partners(404) },
  'GET /invoices/:invoice/mails/:mail/pdf': { statuses: partners(404) },
  'POST /invoices/:invoice/send': { statuses: partners(404), body: {} },
  'POST /invoices/:invoice/remind': { statuses: partners(404), body: {} },
  'PATCH /keys/:key': { statuses: partners(404), body: {} },
  'POST /keys/:key/rotate': { statuses: partners(404), body: {} },
  'POST /keys/:key/revoke': { statuses: partners(404) },
  'GET /models': { statuses: partners(200) },
  'POST /models/:model/prices': { statuses: partners(404), body: { input: '1', output: '2' } },
  // Without `try_it` in the configuration, as here. tests/http/try-it.test.ts has it.
  'GET /try': { statuses: open(200) },
  'POST /try/v1/generate': { statuses: everyone(409), body: { model: 'fast', input: 'Hello', max_output_tokens: 1 } },
  'POST /try/v1/chat/completions': { statuses: everyone(409), body: { model: 'fast' } },
  'POST /try/v1/count_tokens': { statuses: everyone(409), body: { model: 'fast' } },
  'POST /try/v1/responses': { statuses: everyone(409), body: { model: 'fast' } },
  'POST /try/v1/embeddings': { statuses: everyone(409), body: { model: 'fast' } },
  'POST /try/v1/messages': { statuses: everyone(409), body: { model: 'fast' } },
  'POST /try/v1/messages/count_tokens': { statuses: everyone(409), body: { model: 'fast' } },
  'GET /try/v1/models': { statuses: everyone(409) },
  'GET /try/v1/models/:id': { statuses: everyone(409) },
  'GET /try/v1/models*': { statuses: everyone(409) },
  'GET /try/v1/usage': { statuses: partners(409) },
  'GET /try/v1/account': { statuses: partners(409) },
  'GET /try/v1/requests/:id': { statuses: partners(409) },
  'GET /me': { statuses: everyone(200) },
  'DELETE /me/sessions/:id': { statuses: everyone(404) },
  'DELETE /me/sessions': { statuses: everyone(200) },
  // Without passwords in the configuration, as here. tests/http/passwords.test.ts has them.
  'POST /me/password': { statuses: everyone(404), body: { password: 'a new password' } },
  'DELETE /me/password': { statuses: everyone(404) },
  'GET /signin/reset': { statuses: open(404) },
  'POST /auth/reset/request': { statuses: open(404), body: { email: 'anna@example.com' } },
  'POST /auth/reset/inspect': { statuses: open(404), body: { token: 'unknown' } },
  'POST /auth/reset': { statuses: open(404), body: { token: 'unknown', password: 'a new password' } },
  'POST /me/confirmation/start': { statuses: everyone(404), body: { factor: 'totp' } },
  'POST /me/confirmation': { statuses: everyone(400), body: { factor: 'totp' } },
  'POST /me/factors/:id/start': { statuses: everyone(404), body: {} },
  'POST /me/factors/:id': { statuses: everyone(404), body: {} },
  'DELETE /me/factors/:id': { statuses: everyone(404) },
  'POST /me/recovery-codes': { statuses: everyone(409) },
  'PATCH /me/passkeys/:id': { statuses: everyone(404), body: { name: 'New' } },
  'DELETE /me/passkeys/:id': { statuses: everyone(404) },
  'DELETE /me/identities/:id': { statuses: everyone(404) },
  // Nobody has one yet.
  'DELETE /me/calendar': { statuses: everyone(404) },
  'POST /me/calendar': { statuses: forClients(201), body: {} },
  // tests/http/calendar.test.ts has those that exist.
  'GET /calendar/:person/:file': { statuses: open(404) },
  // Without a mail server, as here.
  'POST /me/task-mail': { statuses: forClients(409) },
  'DELETE /me/task-mail': { statuses: everyone(200) },
  'GET /signin': { statuses: open(200) },
  'POST /signout': { statuses: open(200) },
  'GET /auth/callback': { statuses: { ...open(303), anonymous: 400, disabled: 400 } },
  'GET /signin/link': { statuses: open(200) },
  'POST /auth/link/inspect': { statuses: open(404), body: { token: 'unknown' } },
  'POST /auth/link': { statuses: open(404), body: { token: 'unknown' } },
  'POST /auth/complete': { statuses: open(400), body: { attempt: 'unknown', input: {} } },
  'GET /signin/invitation': { statuses: open(200) },
  'POST /auth/invitation/inspect': { statuses: open(400), body: { token: 'unknown' } },
  'POST /auth/invitation': { statuses: { ...open(403), anonymous: 400, disabled: 400 }, body: { token: 'unknown' } },
  'POST /auth/second-factor/start': { statuses: open(400), body: { factor: 'unknown' } },
  'POST /auth/second-factor': { statuses: open(400), body: { input: {} } },
  'POST /auth/second-factor/abandon': { statuses: open(200) },
  'POST /auth/second-factor/enrol/start': { statuses: open(400), body: { factor: 'unknown' } },
  'POST /auth/second-factor/enrol': { statuses: open(400), body: { input: {} } },
}

/** Routes that need an API key: a session does not open them. */
const forCallers = [
  'POST /v1/generate',
  'POST /v1/chat/completions',
  'POST /v1/count_tokens',
  'POST /v1/responses',
  'POST /v1/embeddings',
  'POST /v1/messages',
  'POST /v1/messages/count_tokens',
  'POST /v1/files',
  'GET /v1/files',
  'GET /v1/files/:id',
  'GET /v1/files/:id/content',
  'DELETE /v1/files/:id',
  'POST /v1/batches',
  'GET /v1/batches',
  'GET /v1/batches/:id',
  'POST /v1/batches/:id/cancel',
  'POST /v1/messages/batches',
  'GET /v1/messages/batches',
  'GET /v1/messages/batches/:id',
  'POST /v1/messages/batches/:id/cancel',
  'GET /v1/messages/batches/:id/results',
  'DELETE /v1/messages/batches/:id',
  'GET /v1/models',
  'GET /v1/models/:id',
  'GET /v1/models*',
  'GET /v1/usage',
  'GET /v1/account',
  'GET /v1/requests/:id',
]

/** Routes that are the same for everyone. */
const forEveryone = [
  'GET /healthz',
  'GET /readyz',
  'GET /metrics',
  'GET /openapi.json',
  'GET /assets/:name',
  'GET /docs',
  'GET /docs/',
  'GET /docs/clients',
  'GET /docs/errors',
  'GET /docs/api',
  'GET /docs/api/:id',
  'GET /docs/assets/:name',
  'GET /docs/*',
  // /auth/backchannel-logout/*, authenticated by its token; the router prints only the wildcard.
  'POST /*',
]

/** The URLs that a route's pattern stands for. */
interface Target {
  readonly client: string
  readonly items: Readonly<Record<string, string>>
  readonly upload: string
}

const kinds = {
  notes: { date: '2026-03-12', text: 'secret-marker' },
  disputes: { invoice: 'secret-marker', amount: '1' },
  letters: { subject: 'secret-marker' },
  documents: { name: 'secret-marker', digest },
  tasks: { title: 'secret-marker' },
  contacts: { name: 'secret-marker' },
  time_entries: { date: '2026-03-12', minutes: 20, rate: '100', text: 'secret-marker' },
  expenses: { date: '2026-03-12', amount: '5', text: 'secret-marker' },
}

const firm = fixture(() => startFirm({ metricsToken: 'metrics-token' }))
const people = fixture(async () => ({
  own: await firm.join('Own', 'consultant'),
  other: await firm.join('Other', 'consultant'),
  former: await firm.join('Former', 'consultant'),
  partner: await firm.join('Partner', 'partner'),
  disabled: await firm.join('Disabled', 'consultant'),
  developer: await firm.join('Developer', 'developer'),
}))
setUp(() => firm.service.people.setStatus(people.disabled.id, 'disabled', byService))

/** A client with one item of each kind, handed over from one consultant to another. */
async function target(): Promise<Target> {
  const visit = { actor: personActor(people.former) }
  const { records } = firm.service
  const { id } = await records.clients.create(visit, { name: 'secret-marker' })
  const { json: upload } = await firm.ask('POST', `/clients/${id}/uploads`, {
    body: 'secret-marker',
    headers: { cookie: await firm.service.signIn(people.former), 'sec-fetch-site': 'same-origin' },
  })
  const items: Record<string, string> = {}
  const { notes, disputes, letters, documents, tasks, contacts, timeEntries, expenses } = records
  for (const each of [notes, disputes, letters, documents, tasks, contacts, timeEntries, expenses]) {
    items[each.kind.plural] = (await each.create(visit, id, kinds[each.kind.plural])).id
  }
  const given = { basis: null, body: { consultant_id: people.own.id } }
  await records.clients.change({ actor: personActor(people.partner) }, id, given)
  return { client: id, items, upload: String(upload['id']) }
}

/** What is on the record, read without access checks, without what the service itself changes. */
async function contents({ client }: Target): Promise<string> {
  const reader = byService
  const { clients, documents, tasks, contacts, timeEntries, expenses } = firm.service.records
  const lists = [documents, tasks, contacts, timeEntries, expenses].map((items) => items.list(reader, client))
  const parts = [clients.read(reader, client), ...lists]
  return JSON.stringify(await Promise.all(parts).catch(() => 'gone')).replaceAll(/"reading":"\w+"/g, '')
}

/** A new session for each request, so that one that ends sessions affects no other. */
async function cookieOf(actor: Actor | 'stale'): Promise<string | undefined> {
  if (actor === 'anonymous') return undefined
  if (actor === 'stale') return firm.service.signIn({ ...people.partner, provenAt: null })
  return actor === 'disabled' ? people.disabled.cookie : firm.service.signIn(people[actor])
}

async function ask(route: string, actor: Actor | 'stale', at: Target, fields?: object): Promise<Answer> {
  const { body, based, headers: own } = matrix[route] ?? {}
  const [method = '', pattern = ''] = route.split(' ')
  const kind = pattern.split('/')[3] ?? ''
  const address = pattern
    .replace(':client', at.client)
    .replace(':item', at.items[kind] ?? '')
    .replace(':upload', at.upload)
    .replace(/:(?:id|account|key|model)\b/, '01990000-0000-7000-8000-000000000000')
    .replace('*', '/a/b')
  const cookie = await cookieOf(actor)
  return firm.ask(method, pattern === '/search' ? `${address}?q=secret` : address, {
    body: fields ?? body,
    headers: {
      ...(cookie !== undefined && { cookie }),
      ...(based && { 'if-match': at.items[kind] === undefined ? '"2"' : '"1"' }),
      'sec-fetch-site': 'same-origin',
      ...own,
    },
  })
}

async function freshTarget() {
  const at = await target()
  return { at, was: await contents(at) }
}

/** Routes of visitors: of those who sign in, and of calendar programs. */
const ofVisitors = /^[A-Z]+ \/(?:auth|signin|calendar)\b/

async function rowsOf({ headers }: Answer): Promise<number> {
  const id = headers.get('request-id')
  return (await firm.service.database.rows('select 1 from audit where request_id = $1', [id])).length
}

/** A target that no request has changed yet. */
let unchanged: Awaited<ReturnType<typeof freshTarget>> | undefined

describe('every route', () => {
  test('B78: is in this matrix, and every row has a route', () => {
    const routes = routesOf(firm.service).filter((route) => !route.startsWith('HEAD '))
    assert.ok(routes.length > 50, 'the router is not read')
    const rows = [...Object.keys(matrix), ...forCallers, ...forEveryone]
    assert.equal(new Set(rows).size, rows.length)
    assert.deepEqual(new Set(routes), new Set(rows))
    const { jsonOnlyUrls } = firm.service.app
    const elsewhere = [...forCallers, ...forEveryone].filter((route) => !jsonOnlyUrls.has(route.split(' ')[1] ?? ''))
    assert.deepEqual(elsewhere, ['POST /*'], 'a route of the portal belongs in the matrix')
  })

  for (const route of forCallers) {
    test(`${route}: refuses a session`, async () => {
      const [method = '', path = ''] = route.split(' ')
      for (const actor of actors) {
        const cookie = await cookieOf(actor)
        const reply = await firm.ask(method, path.replace(':id', 'tiny').replace('*', '/a/b'), {
          ...(method === 'POST' && { body: { model: 'tiny' } }),
          headers: cookie === undefined ? {} : { cookie },
        })
        assert.equal(reply.status, 401, `${actor}: ${reply.text}`)
        assert.match(reply.text, /Send your API key in the header/)
      }
    })
  }

  for (const route of forEveryone) {
    test(`${route}: responds the same to a visitor and to a partner`, async () => {
      const [method = '', path = ''] = route.split(' ')
      const address = method === 'POST' ? '/auth/backchannel-logout/unknown' : path.replace(/:name|\*/, 'unknown')
      const replies = await Promise.all(
        [{}, { cookie: people.partner.cookie }].map((headers) => firm.ask(method, address, { headers })),
      )
      const [visitor, partner] = replies.map(({ status, headers, text }) => [
        status,
        text.replaceAll(headers.get('request-id') ?? '', 'ID'),
      ])
      assert.deepEqual(partner, visitor)
    })
  }

  for (const [route, { statuses }] of Object.entries(matrix)) {
    test(`${route}: ${actors.map((actor) => `${actor} ${statuses[actor]}`).join(', ')}`, async () => {
      for (const actor of actors) {
        const { at, was } = (unchanged ??= await freshTarget())
        const reply = await ask(route, actor, at)
        assert.equal(reply.status, statuses[actor], `${actor}: ${reply.text}`)
        if (reply.status < 400) {
          if (!route.startsWith('GET ')) unchanged = undefined
          continue
        }
        assert.ok(!reply.text.includes('secret-marker'), `${actor} gets data of the record`)
        if ([403, 404].includes(reply.status) && !ofVisitors.test(route))
          assert.equal(await rowsOf(reply), 1, `${actor}: audit rows`)
        assert.equal(await contents(at), was, `${actor} changed the record`)
      }
    })
  }

  test('B108: that changes something, or exports a record, needs a recent sign-in exactly if the table says so', async () => {
    const changes = Object.keys(matrix).filter((route) => !/^GET |\/(?:auth\/|signout)/.test(route))
    assert.deepEqual(new Set([...changes, 'GET /clients/:client/export']), new Set(Object.keys(recentRoutes)))
    const at = await target()
    for (const [route, need] of Object.entries(recentRoutes)) {
      const { json } = await ask(route, 'stale', at)
      assert.equal(field(json, 'error', 'code') === 'recent_sign_in_required', need === true, route)
      for (const name of typeof need === 'boolean' ? [] : need) {
        const { json: refused } = await ask(route, 'stale', at, { [name]: at.client })
        assert.equal(field(refused, 'error', 'code'), 'recent_sign_in_required', `${route} with ${name}`)
      }
    }
  })
})
