import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { createCertificate } from '../../tests/support/certificate.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { startMailServer, type TestMailServer } from '../../tests/support/mail-server.ts'
import { fixture } from '../../tests/support/fixture.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'
import { inTime, until } from '../../tests/support/until.ts'
import { valuesOf } from '../../tests/support/json.ts'
import { createAudit } from '../access/audit/audit.ts'
import { createEncryption } from '../platform/encryption/encryption.ts'
import { openMailer, type OpenMailer } from './open.ts'
import { startDelivery } from './delivery.ts'
import type { MailEnd, MailMessage } from './mailer.ts'
import { openMailQueue, sealMail, type MailQueue } from './queue.ts'
import { openMailServer, type OutgoingMail } from './smtp.ts'

const secret = 'vvv-token-vvv'
const link = (to = 'anna@example.com'): MailMessage => ({
  to,
  template: 'sign_in_link',
  values: { token: secret, code: '7K2M-9QXT', device: 'Firefox on Linux' },
})
const notice = (to: string): MailMessage => ({ to, template: 'account_changed', values: { what: 'password_changed' } })

let server: TestMailServer
let open: { readonly close: () => Promise<void> }[] = []
let log: ReturnType<typeof createTestLog>

const { own: fresh, database } = openOwnDatabase()
const audit = fixture(() => createAudit({ database }))
beforeEach(async () => {
  log = createTestLog()
  server = await startMailServer()
})
afterEach(async () => {
  await Promise.all(open.map(({ close }) => close()))
  open = []
  await server.close()
  await database.rows('delete from pgboss.job')
})

/** One instance. It looks at the queue and tries again sooner than in production. */
async function start(url = server.url, key = 7): Promise<OpenMailer> {
  const mailer = await openMailer({
    config: {
      mail: { url, from: 'Tollgate <tollgate@firm.example>' },
      firm: { name: 'Penhallow & Partners' },
      base_url: 'https://tollgate.test',
    },
    encryption: createEncryption(Buffer.alloc(32, key)),
    databaseUrl: fresh.url,
    audit,
    log: log.log,
    recipientOf: async (address) => (address.startsWith('stranger') ? undefined : address.toLowerCase()),
    pace: { lookEvery: 20, firstPause: 1, superviseEvery: 1 },
  })
  assert.ok(mailer)
  open.push(mailer)
  return mailer
}

const queue = (mailer: OpenMailer, mail: MailMessage) => database.transaction((tx) => mailer.send(tx, mail))
const ended = (...mailers: OpenMailer[]) =>
  mailers.flatMap((mailer) => Object.values(mailer.ends())).reduce((sum, count) => sum + count, 0)

async function givenUp(): Promise<readonly Record<string, string>[]> {
  const rows = await database.rows<{ details: Record<string, string> }>(
    `select details from audit where action = 'mail_given_up' order by id`,
  )
  return rows.map(({ details }) => details)
}

const states = async () =>
  (await database.rows<{ state: string }>('select state::text as state from pgboss.job')).map(({ state }) => state)

type DeliveryNeeds = Parameters<typeof startDelivery>[0]
const noServer = { check: () => Promise.resolve(), close: () => undefined }

/** A delivery with these parts replaced. */
async function deliver(replaced: (real: MailQueue) => Partial<DeliveryNeeds> & Pick<DeliveryNeeds, 'server'>) {
  const { log: lines } = createTestLog()
  const encryption = createEncryption(Buffer.alloc(32, 7))
  const real = await openMailQueue({ databaseUrl: fresh.url, log: lines })
  const ends: MailEnd[] = []
  const parts = replaced(real)
  const delivery = startDelivery({
    queue: real,
    encryption,
    audit,
    log: lines,
    render: (_mail, to) => ({ to, subject: 's', text: 't', html: 'h' }),
    host: 'tollgate.test',
    recipientOf: async (address) => address,
    onEnd: (end) => void ends.push(end),
    lookEvery: 20,
    ...parts,
  })
  open.push({
    async close() {
      await delivery.close()
      parts.server.close()
      await real.close()
    },
  })
  return {
    ends,
    add: (mail: MailMessage, id = randomUUIDv7()) =>
      database.transaction((tx) => real.add(tx, { id, sealed: sealMail(encryption, id, mail) })),
  }
}

/** Waits until a mail that was retried at least `from` times is put back. Its next try is at once, and counts as retry `to`. */
const again = (from: number, to: number) =>
  until(async () => {
    const rows = await database.rows(
      `update pgboss.job set retry_count = $2 - 1, start_after = now() where state = 'retry' and retry_count >= $1 and retry_count < $2 returning 1`,
      [from, to],
    )
    return rows.length === 1
  })

describe('a mail', () => {
  test('that was accepted is not sent again because the database is away', async () => {
    let failures = 2
    const sender = await openMailServer({ url: server.url, from: 'tollgate@firm.example' })
    const { add, ends } = await deliver((real) => ({
      queue: {
        ...real,
        async finish(id) {
          if (failures-- > 0) throw new Error('away')
          await real.finish(id)
        },
      },
      server: sender,
    }))
    await add(link())
    await until(() => ends.length === 1)
    assert.deepEqual([server.seen.length, failures], [1, -1])
    assert.deepEqual(await states(), ['completed'])
  })

  test('is one of at most five that an instance sends at once', async () => {
    const sending: (() => void)[] = []
    let atOnce = 0
    let most = 0
    async function send(_mail: OutgoingMail, signal: AbortSignal): Promise<void> {
      most = Math.max(most, ++atOnce)
      await new Promise<void>((resolve) => {
        sending.push(resolve)
        signal.addEventListener('abort', () => resolve())
      })
      atOnce--
    }
    const { add, ends } = await deliver(() => ({ server: { ...noServer, send } }))
    await Promise.all(Array.from({ length: 12 }, (_, index) => add(notice(`person${index}@example.com`))))
    for (let sent = 0; sent < 12; sent++) {
      await until(() => sending.length > 0)
      sending.shift()?.()
      await until(() => ends.length > sent)
    }
    assert.equal(most, 5)
  })

  test('to a payer has the file and the copy that belong to it, and its end is recorded before it leaves the queue', async () => {
    const sent: OutgoingMail[] = []
    const done: string[] = []
    const id = randomUUIDv7()
    const withdrawn = randomUUIDv7()
    const file = { name: 'R-1.pdf', content: Buffer.from('%PDF-') }
    let failures = 1
    const { add, ends } = await deliver((real) => ({
      queue: {
        ...real,
        async finish(each) {
          done.push(`finish ${each}`)
          await real.finish(each)
        },
      },
      server: { ...noServer, send: async (mail) => void sent.push(mail) },
      kept: {
        payer: {
          fileOf: async (each) => (each === id ? file : undefined),
          async ended(each, end) {
            if (failures-- > 0) throw new Error('away')
            done.push(`${end} ${each}`)
          },
        },
      },
    }))
    const mail: MailMessage = { to: 'a@example.com', template: 'payer', values: { subject: 's', message: 'm' } }
    await add({ ...mail, cc: 'b@example.com' }, id)
    await until(() => ends.length === 1)
    await add(mail, withdrawn)
    await until(() => ends.length === 2)
    const words = { subject: 's', text: 't', html: 'h' }
    assert.deepEqual(sent, [
      { to: 'a@example.com', cc: 'b@example.com', file, messageId: `<${id}@tollgate.test>`, ...words },
    ])
    const expected = [`sent ${id}`, `finish ${id}`, `not_allowed ${withdrawn}`, `finish ${withdrawn}`]
    assert.deepEqual(done, expected)
  })

  test('that the server has not accepted when an instance stops is left to another', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    server.behave({ slow: promise })
    const mailer = await start()
    await queue(mailer, link())
    await until(() => server.seen.length === 1)
    await inTime('closing', mailer.close())
    open = []
    assert.equal(ended(mailer), 0)
    assert.deepEqual(await states(), ['retry'])
    resolve()
  })

  test('is sent only if its transaction commits', async () => {
    const mailer = await start()
    const failed = database.transaction(async (tx) => {
      await mailer.send(tx, notice('never@example.com'))
      throw new Error('rolled back')
    })
    await assert.rejects(failed, /rolled back/)
    await queue(mailer, notice('anna@example.com'))
    await server.received(1)
    await until(() => ended(mailer) === 1)
    assert.deepEqual(valuesOf(server.mails, 'to'), [['anna@example.com']])
  })

  test('has the same words as text and HTML, with links to the configured address alone', async () => {
    await queue(await start(), link())
    const [mail] = await server.received(1)
    assert.ok(mail)
    assert.equal(mail.from, 'tollgate@firm.example')
    assert.equal(mail.subject, 'Your sign-in link – Penhallow & Partners')
    assert.match(mail.text, /^-- \r?\nPenhallow & Partners, https:\/\/tollgate\.test$/m)
    assert.match(mail.messageId, /^<[0-9a-f-]{36}@tollgate\.test>$/)
    assert.equal(mail.headers['auto-submitted'], 'auto-generated')
    for (const body of [mail.text, mail.html]) {
      assert.ok(body.includes(`https://tollgate.test/signin/link#${secret}`), body)
      assert.ok(body.includes('7K2M-9QXT') && body.includes('Firefox on Linux') && body.includes('ignore this mail'))
      assert.doesNotMatch(body, /https?:\/\/(?!tollgate\.test)/)
    }
    assert.doesNotMatch(mail.html, /<img|<script|<link|url\(|src=/)
  })

  test('is encrypted while it waits', async () => {
    await server.down()
    await queue(await start(), link('secret.person@example.com'))
    const [row] = await database.rows<{ job: string; sealed: string }>(
      `select j::text as job, data->>'sealed' as sealed from pgboss.job j`,
    )
    assert.ok(row)
    for (const stored of [row.job, Buffer.from(row.sealed, 'base64').toString('latin1')]) {
      assert.doesNotMatch(stored, /secret\.person|vvv|7K2M/)
    }
  })

  test('waits while the server is down, and is then sent once', async () => {
    await server.down()
    const mailer = await start()
    await queue(mailer, link())
    await until(() => log.text().includes('ECONNREFUSED'))
    await server.up()
    await server.received(1)
    await until(() => ended(mailer) === 1)
    assert.equal(server.seen.length, 1)
  })

  test('survives a restart', async () => {
    await server.down()
    const stopped = await start()
    await queue(stopped, link())
    await stopped.close()
    open = []
    await server.up()
    const mailer = await start()
    await server.received(1)
    await until(() => ended(mailer) === 1)
    assert.equal(server.seen.length, 1)
  })

  for (const [name, behaviour] of [
    ['is greylisted', { recipient: 451 }],
    ['is refused for now after its text', { data: 452 }],
    ['is refused because we have to sign in first', { recipient: 530 }],
  ] as const) {
    test(`that ${name} is tried again until it is accepted`, async () => {
      server.behave(behaviour, behaviour)
      const mailer = await start()
      await queue(mailer, link())
      await server.received(1)
      await until(() => ended(mailer) === 1)
      assert.equal(server.mails.length, 1)
      assert.deepEqual(mailer.ends(), { sent: 1, given_up: 0, expired: 0, not_allowed: 0 })
      assert.deepEqual(await givenUp(), [])
    })
  }

  test('whose connection ends before the reply is sent again with the same id', async () => {
    server.behave({ drops: true })
    const mailer = await start()
    await queue(mailer, link())
    await server.received(1)
    await until(() => ended(mailer) === 1)
    assert.equal(server.seen.length, 2)
    assert.equal(server.seen[0]?.messageId, server.seen[1]?.messageId)
  })

  test('that is refused for good is given up, with an audit row that does not tell whose it was', async () => {
    server.behave({ recipient: 550 })
    const mailer = await start()
    await queue(mailer, link('secret.person@example.com'))
    await until(() => ended(mailer) === 1)
    assert.deepEqual(await givenUp(), [{ template: 'sign_in_link', reason: '550', tries: '1' }])
    assert.match(log.text(), /"reason":"550","tries":1,"msg":"mail: given up"/)
    await queue(mailer, notice('other@example.com'))
    await server.received(1)
    await until(() => ended(mailer) === 2)
    assert.equal(server.mails.length, 1)
    assert.doesNotMatch(log.text(), /secret\.person|vvv|7K2M/)
  })

  test('is given up after 131 tries, and no sooner', async () => {
    server.behave(...Array.from({ length: 50 }, () => ({ recipient: 451 })))
    const mailer = await start()
    await queue(mailer, link())
    await again(0, 129)
    await again(129, 130)
    await until(() => ended(mailer) === 1)
    assert.deepEqual(mailer.ends(), { sent: 0, given_up: 1, expired: 0, not_allowed: 0 })
    assert.deepEqual((await givenUp()).at(-1), { template: 'sign_in_link', reason: '451', tries: '131' })
    assert.equal(server.seen.length, 0)
  })

  test('that the server is slow to accept is sent once, with several instances', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    server.behave({ slow: promise })
    const [one, other] = [await start(), await start()]
    await queue(one, link())
    await until(() => server.seen.length === 1)
    // Meanwhile the others are not held up.
    await queue(other, notice('second@example.com'))
    await server.received(1)
    resolve()
    await server.received(2)
    await until(() => ended(one, other) === 2)
    assert.equal(server.seen.length, 2)
  })

  test('that an instance cannot decrypt is left to one that can', async () => {
    await server.down()
    const mailer = await start()
    await queue(mailer, link())
    await mailer.close()
    const stranger = await start(server.url, 8)
    await server.up()
    await until(() => log.text().includes('"reason":"unreadable"'))
    await stranger.close()
    assert.equal(ended(stranger), 0)
    open = []
    const other = await start()
    await server.received(1)
    await until(() => ended(other) === 1)
    assert.equal(server.seen.length, 1)
  })

  test('of many is sent once each, by several instances', async () => {
    const mailers = [await start(), await start(), await start()]
    const addresses = Array.from({ length: 40 }, (_, index) => `person${index}@example.com`)
    await Promise.all(addresses.map((to, index) => queue(mailers[index % 3] ?? assert.fail(), notice(to))))
    await until(() => ended(...mailers) === 40)
    assert.deepEqual(server.mails.flatMap(({ to }) => to).toSorted(), addresses.toSorted())
    assert.equal(server.seen.length, 40)
  })

  test('that a dead instance had taken is sent by another', async () => {
    await server.down()
    const mailer = await start()
    await queue(mailer, link())
    // As an instance leaves it that took it and was killed.
    await until(async () => {
      const taken = await database.rows(
        `update pgboss.job set state = 'active', started_on = now() - interval '1 minute',
           heartbeat_on = now() - interval '1 minute' where state in ('created', 'retry') returning 1`,
      )
      return taken.length === 1
    })
    await server.up()
    await server.received(1)
    await until(() => ended(mailer) === 1)
    assert.equal(server.seen.length, 1)
  })

  test('stays in the queue while the server refuses our password', async () => {
    const guarded = await startMailServer({
      user: 'tollgate:wrong@',
      authMethods: ['PLAIN'],
      allowInsecureAuth: true,
      onAuth: (_auth, _session, done) => done(Object.assign(new Error('no'), { responseCode: 535 })),
    })
    const mailer = await start(guarded.url)
    await queue(mailer, link())
    await until(() => log.text().includes('"reason":"535"'))
    assert.equal(ended(mailer), 0)
    await mailer.close()
    open = []
    await guarded.close()
    assert.doesNotMatch(log.text(), /wrong/)
    const next = await start()
    await server.received(1)
    await until(() => ended(next) === 1)
  })

  test('is not sent with our password in clear text, except on this machine', async () => {
    const passwords: unknown[] = []
    const clear = await startMailServer({
      user: 'tollgate:secret@',
      authMethods: ['PLAIN'],
      allowInsecureAuth: true,
      onAuth({ password }, _session, done) {
        passwords.push(password)
        done(null, { user: 'tollgate' })
      },
    })
    // The same server, at an address that does not look like this machine's.
    const mailer = await start(clear.url.replace('127.0.0.1', '[::ffff:127.0.0.1]'))
    await queue(mailer, link())
    await until(() => log.text().includes('will be retried'))
    assert.deepEqual([ended(mailer), clear.connections > 0, passwords], [0, true, []])
    await mailer.close()
    open = []
    const near = await start(clear.url)
    await clear.received(1)
    await until(() => ended(near) === 1)
    assert.deepEqual(passwords, ['secret'])
    await near.close()
    open = []
    await clear.close()
  })

  for (const scheme of ['smtp', 'smtps'] as const) {
    test(`is not sent over ${scheme} to a server whose certificate nobody vouches for`, async () => {
      const strange = await startMailServer({ scheme, secure: scheme === 'smtps', ...createCertificate() })
      const mailer = await start(strange.url)
      await queue(mailer, link())
      await until(() => log.text().includes('DEPTH_ZERO_SELF_SIGNED_CERT'))
      await mailer.close()
      open = []
      await strange.close()
      assert.equal(strange.seen.length, 0)
    })
  }

  test('is not sent after its time, nor to an address that may not sign in', async () => {
    const mailer = await start()
    await queue(mailer, { ...link(), until: new Date(Date.now() - 1) })
    await queue(mailer, { ...link('stranger@example.com'), onlyFor: 'sign_in' })
    await queue(mailer, { ...link('Anna@Example.com'), onlyFor: 'sign_in' })
    await until(() => ended(mailer) === 3)
    assert.deepEqual(mailer.ends(), { sent: 1, given_up: 0, expired: 1, not_allowed: 1 })
    assert.deepEqual(valuesOf(server.seen, 'to'), [['anna@example.com']])
  })
})
