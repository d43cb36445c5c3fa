import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { byService, personActor } from '../../src/access/actor.ts'
import { createBudgets } from '../../src/accounts/budgets/budgets.ts'
import { eraseClient } from '../../src/client-data/store.ts'
import { claimMonth } from '../../src/invoicing/run/store.ts'
import type { Database } from '../../src/platform/database/database.ts'
import { createThrottle } from '../../src/signin/throttle/throttle.ts'
import { batchLine, createBatch } from './batches.ts'
import { clientId, clientSecret } from './lying-provider.ts'
import { addPasskey, post, setUpTotp } from './own-account.ts'
import { addPastUsage } from './past-usage.ts'
import { startPortal } from './portal.ts'
import { upstreamModel } from './service.ts'
import { asSuperuser } from './superuser.ts'
import { announced, sealAll } from './tamper.ts'
import { until } from './until.ts'
import { startVendor } from './vendor.ts'

/** The contents of a database filled by `fillDatabase`. */
export interface Contents {
  /** The text of an API key of the account. */
  readonly key: string
  readonly accountId: string
  readonly clientId: string
  readonly partnerId: string
}

const call = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

/**
 * Puts rows into every table by using a service on the database, and runs `look` while a request is in flight, so that there
 * are also holds and instances.
 */
export async function fillDatabase(databaseUrl: string, look: (contents: Contents) => Promise<void>): Promise<void> {
  const vendor = await startVendor()
  const portal = await startPortal({ databaseUrl, models: [upstreamModel(vendor.url)], firm: { name: 'Firm' } })
  const { service } = portal
  try {
    const { accountId, key } = await useAccounts(service)
    const { client, partnerId } = await useRecords(portal)
    await grantAccount(service, accountId)
    await useInvoices(portal, accountId, client)
    await endSessionAtProvider(portal)
    await portal.profile().ask('/auth/start/firm')
    await useFactors(portal)
    await useLimits(service.database)
    await sealAll(service.database)
    const held = Promise.withResolvers<void>()
    vendor.set({ gate: () => held.promise })
    const tagged = { ...call, metadata: { project: 'Apollo' } }
    const pending = service.call('/v1/generate', key, tagged, { 'idempotency-key': 'pending' })
    await until(async () => (await service.books(accountId)).holds > 0)
    await look({ key, accountId, clientId: client, partnerId })
    held.resolve()
    assert.equal((await pending).status, 200)
  } catch (error) {
    throw new Error(`the database could not be filled:\n${service.logText()}`, { cause: error })
  } finally {
    await portal.close()
    await vendor.close()
  }
}

/** The tables without a row. The default partition of the ledger is empty unless a month's partition is missing. */
export async function emptyTables(database: Database): Promise<string[]> {
  const tables = await database.rows<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = current_schema::regnamespace and relkind in ('r', 'p') and not relispartition order by 1`,
  )
  const counted = await Promise.all(
    tables.map(async ({ name }) => {
      const [row] = await database.rows<{ count: bigint }>(`select count(*) from "${name}"`)
      return row?.count === 0n ? [name] : []
    }),
  )
  return counted.flat()
}

type Portal = Awaited<ReturnType<typeof startPortal>>

async function useAccounts(service: Portal['service']) {
  const steady = await service.customer({
    credit: 10n ** 15n,
    requestsPerMinute: 100_000,
    tokensPerMinute: 100_000_000,
  })
  const monthly = await service.customer({ credit: undefined, monthlyLimit: 10n ** 14n })
  for (let request = 0; request < 6; request++) {
    assert.equal((await service.call('/v1/generate', steady.key, call)).status, 200)
  }
  assert.equal((await service.call('/v1/generate', monthly.key, { ...call, stream: true })).status, 200)
  assert.equal((await service.call('/v1/generate', monthly.key, call, { 'idempotency-key': 'stored' })).status, 200)
  const { key, keyId } = await service.customer({ own: true })
  await service.keys.setLimits(keyId, { dailyBudget: 10n ** 12n }, byService)
  const attributed = { ...call, metadata: { client_id: await service.client(), project: 'Apollo' } }
  assert.equal((await service.call('/v1/generate', key, attributed)).status, 200)
  await service.accounts.addCredit(steady.accountId, 10n ** 12n, byService, 'top-up')
  await service.keys.rotate(monthly.keyId, { overlapMs: 60_000 }, byService)
  await service.keys.revoke((await service.customer()).keyId, byService)
  await addAlert(service.database, steady.accountId)
  const batch = await createBatch(service, steady.key, [batchLine('one'), batchLine('two')])
  await until(async () => (await service.call(`/v1/batches/${batch.id}`, steady.key)).json['status'] === 'completed')
  // An account in steady use has an allowance, and so has a key with limits.
  await service.keys.setLimits(steady.keyId, { requestsPerMinute: 100_000 }, byService)
  await useBudgets(service, steady)
  assert.equal((await service.call('/v1/generate', steady.key, { ...call, max_output_tokens: 0 })).status, 400)
  await until(async () => (await service.database.rows('select from refused_request')).length > 0)
  return steady
}

/** A budget of the key, of which an instance has an allowance, and one of a tag. */
async function useBudgets(
  service: Portal['service'],
  { accountId, keyId, key }: Awaited<ReturnType<Portal['service']['customer']>>,
) {
  const { database } = service
  const budgets = createBudgets({ database, timeZone: 'UTC' })
  const budget = { accountId, period: 'month', hard: true, amount: 10n ** 15n } as const
  await budgets.create({ ...budget, name: 'Team', keys: [keyId] }, byService)
  await budgets.create({ ...budget, name: 'Apollo', tag: { name: 'project', value: 'Apollo' } }, byService)
  await until(async () => {
    await service.call('/v1/generate', key, call)
    return (await database.rows('select from key_allowance, budget_allowance, allowance')).length > 0
  })
}

/** An alert that was tried, without sending anything. */
async function addAlert(database: Database, accountId: string): Promise<void> {
  const [id, delivery] = [randomUUID(), randomUUID()]
  await database.rows(
    announced(`insert into alert_rule (id, account_id, shares, webhook, secret, removed_at)
     values ($1, $2, '{80}', 'https://hooks.example.com/', '\\x00', now())`),
    [id, accountId],
  )
  await database.rows(announced('insert into batch_alert (rule_id) values ($1)'), [id])
  await database.rows(
    `insert into alert (id, rule_id, period, share, used, of, ended) values ($1, $2, 'past', 80, 80, 100, 'given_up')`,
    [delivery, id],
  )
  await database.rows(`insert into alert_attempt (alert_id, outcome, error) values ($1, 'given_up', '500')`, [delivery])
}

async function grantAccount({ people, database }: Portal['service'], accountId: string): Promise<void> {
  const { id } = await people.create({ name: 'Dora', email: 'dora@example.com', role: 'developer' }, byService)
  await database.rows(announced('insert into account_grant (person_id, account_id) values ($1, $2)'), [id, accountId])
}

async function useRecords(portal: Portal) {
  const partner = await portal.enter('partner')
  const consultant = await portal.enter('consultant')
  const send = async (method: string, address: string, body?: unknown, version?: number) => {
    const headers = version === undefined ? {} : { 'if-match': `"${version}"` }
    const page = await consultant.profile.ask(address, { method, body, headers })
    assert.ok(page.status < 300, `${address}: ${page.text}`)
    return page
  }
  const client = String((await send('POST', '/clients', { name: 'Anna Berg', reference: 'PA-1' })).json['id'])
  const note = await send('POST', `/clients/${client}/notes`, {
    date: '2026-03-12',
    text: 'first',
    participants: ['Anna'],
  })
  await send('PATCH', `/clients/${client}/notes/${String(note.json['id'])}`, { text: 'second' }, 1)
  await send('POST', `/clients/${client}/disputes`, { invoice: 'R-1', amount: '12.50', position: 'none' })
  await send('POST', `/clients/${client}/letters`, { subject: 'Offer', body: 'Dear Anna' })
  await send('POST', `/clients/${client}/time_entries`, {
    date: '2026-03-12',
    minutes: 20,
    rate: '100',
    text: 'Advice',
  })
  const file = { kind: 'A file' }
  const digest = createHash('sha256').update(JSON.stringify(file)).digest('hex')
  await send('POST', `/clients/${client}/uploads`, file)
  await send('POST', `/clients/${client}/documents`, { name: 'A file.json', digest })
  // The service has no folder for them.
  await asSuperuser(portal.service.database, (tx) =>
    tx.rows(`insert into document_object (digest, client_id, place) values (sha256('an object'), $1, 'folder')`, [
      client,
    ]),
  )
  await send('POST', `/clients/${client}/tasks`, { title: 'Answer the client', due: '2026-03-19' })
  const letter = await send('POST', `/clients/${client}/letters`, { subject: 'Reply', status: 'approved' })
  const contact = await send('POST', `/clients/${client}/contacts`, {
    name: 'Maria Lopes',
    email: 'maria@client.example',
    language: 'pt',
  })
  await send('POST', `/clients/${client}/timer`, { text: 'Advice' })
  await send('POST', `/clients/${client}/expenses`, { date: '2026-03-12', amount: '34.50', text: 'Train' })
  // The service has no mail server, so that nobody can turn it on.
  await portal.service.database.rows('insert into task_mail (person_id, settled_on) values ($1, current_date)', [
    partner.id,
  ])
  const body = { email: 'invited@example.com', name: 'Invited', role: 'consultant' }
  assert.equal((await partner.profile.ask('/people/invitations', { method: 'POST', body })).status, 201)
  await portal.service.records.access.as({ actor: personActor({ id: partner.id, role: 'partner' }) }, [
    {
      name: 'draft',
      text: `insert into draft (id, client_id, instructions, sources, model, subject)
        values (gen_random_uuid(), $1, 'Write.', '[]', 'fast', 'Offer')`,
      values: [client],
    },
    {
      name: 'mail',
      text: `select send_letter($1, $2, jsonb_build_object('sending_id', gen_random_uuid(), 'version', 1, 'subject', 'Reply', 'message', 'Hello',
        'client_version', 1, 'file', 'Reply.pdf', 'to', jsonb_build_array(jsonb_build_object('id', gen_random_uuid(), 'contact', $3::text,
          'email', 'maria@client.example'))), '%PDF-', null, null)`,
      values: [client, String(letter.json['id']), String(contact.json['id'])],
    },
    {
      name: 'review',
      text: `insert into letter_review (id, client_id, letter_id, reviewer_id)
        select gen_random_uuid(), $1, l.id, c.consultant_id from letter l join client c on c.id = l.client_id where c.id = $1 and l.status = 'draft'`,
      values: [client],
    },
    {
      name: 'template',
      text: `insert into letter_template (id, kind, name, instructions) values (gen_random_uuid(), 'Offer', 'Short', 'Write.')`,
    },
    { name: 'event', text: `insert into audit (action, outcome) values ('template_created', 'allowed')` },
  ])
  for (const name of ['Erased', 'Leaving']) {
    const leaving = String((await send('POST', '/clients', { name })).json['id'])
    const asked = { method: 'POST', body: { reason: 'Ended.' } }
    assert.equal((await partner.profile.ask(`/clients/${leaving}/erasure`, asked)).status, 201)
    if (name === 'Leaving') continue
    await portal.service.database.rows(announced('update erasure set due_at = now() where client_id = $1'), [leaving])
    assert.equal(await eraseClient(portal.service.database, leaving, '0 days'), 'erased')
  }
  const other = await partner.profile.ask(`/clients/${randomUUID()}`)
  assert.equal(other.status, 404)
  return { client, partnerId: partner.id }
}

/** An issued invoice for a month of the account, with a payment, and the draft of one for a client. */
async function useInvoices(portal: Portal, account: string, client: string): Promise<void> {
  const { profile } = await portal.enter('partner')
  const send = async (address: string, body?: object) => {
    const page = await profile.ask(address, { method: 'POST', body, headers: { 'if-match': '"1"' } })
    assert.ok(page.status < 300, `${address}: ${page.text}`)
    return page
  }
  const lines = [{ text: 'Advice', quantity: '1', unit: 'hour', unit_price: '100' }]
  const { json } = await send('/invoices', { account, month: '2026-01', lines })
  const invoice = `/invoices/${String(json['id'])}`
  const issued = await send(`${invoice}/issue`)
  await send(`${invoice}/payments`, { date: issued.json['issued_on'], amount: '40' })
  await portal.service.database.transaction(async (tx) => {
    await tx.rows(`select set_config('tollgate.actor', 'service', true)`)
    const mail = {
      id: randomUUID(),
      kind: 'invoice',
      recipient: 'payer@example.com',
      subject: 'Invoice',
      message: 'Hello',
    }
    await tx.rows(`select send_invoice($1, $2, 'invoice.pdf', '%PDF-', current_date, null, null)`, [
      json['id'],
      JSON.stringify(mail),
    ])
  })
  const usage = { day: '2026-01-05', model: 'fast', input: 1, output: 1, prices: [1n, 2n], client } as const
  await addPastUsage(portal.service.database, await portal.service.customer({ own: true }), [usage])
  await send('/invoices', { client, unbilled_until: '2026-06-30' })
  const later = { date: '2026-07-01', minutes: 20, rate: '100', text: 'Advice' }
  await send(`/clients/${client}/time_entries`, later)
  await claimMonth(portal.service.database, { day: 1, timeZone: 'UTC' })
}

async function useFactors(portal: Portal): Promise<void> {
  const { profile, id } = await portal.enter('consultant')
  await setUpTotp(profile)
  await addPasskey(profile, portal.service.baseUrl)
  assert.equal((await post(profile, '/me/confirmation/start', { factor: 'totp' })).status, 200)
  assert.equal((await post(profile, '/me/calendar')).status, 201)
  const other = await portal.enter('consultant')
  assert.equal((await post(other.profile, '/me/factors/totp/start')).status, 200)
  await portal.service.database.rows(
    announced(`insert into phone (person_id, number, verified_at) values ($1, '+4915112345678', now())`),
    [id],
  )
}

/** Leaves limits, links and a password. What has expired is removed once a minute, so none of them does. */
async function useLimits(database: Database): Promise<void> {
  await createThrottle({ database }).take({ kind: 'mail', most: 3, window: 900_000 }, 'anna@example.com')
  await database.rows(
    `insert into email_link (email_key, email, token_hash, code, state_hash, device, expires_at)
     values ('anna@example.com', 'Anna@example.com', sha256('token'), 'code', sha256('state'), 'Firefox on Linux',
       now() + interval '1 hour')`,
  )
  await database.rows(
    `insert into password_reset (email_key, email, token_hash, expires_at)
     values ('anna@example.com', 'Anna@example.com', sha256('token'), now() + interval '1 hour')`,
  )
  await database.rows(
    announced(`insert into password (person_id, hash, changed_at) select id, '$argon2id$', now() from person limit 1`),
  )
}

/** Leaves a used logout token. */
async function endSessionAtProvider({ service, provider, newcomer, profile }: Portal): Promise<void> {
  const { subject } = newcomer()
  await profile().signIn('firm')
  const now = Math.floor(Date.now() / 1000)
  const token = await provider.keys.sign(
    {
      iss: provider.issuer,
      aud: clientId,
      iat: now,
      exp: now + 120,
      jti: randomUUID(),
      sub: subject,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    },
    { header: { typ: 'logout+jwt' }, secret: clientSecret },
  )
  const body = new URLSearchParams({ logout_token: token })
  const { status } = await fetch(`${service.url}/auth/backchannel-logout/firm`, { method: 'POST', body })
  assert.equal(status, 200)
}
