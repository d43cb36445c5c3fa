import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { after, test } from 'node:test'
import { openDatabase } from '../../src/platform/database/database.ts'
import { verifyDrafts } from '../../src/drafting/verify.ts'
import { createTestDatabase } from '../support/database.ts'
import { draftingSettings, readText } from '../support/drafting.ts'
import { isEndure } from '../support/draws.ts'
import { startFirm } from '../support/firm.ts'
import type { Json } from '../support/json.ts'
import { startService } from '../support/service.ts'
import { asSuperuser } from '../support/superuser.ts'
import { log } from '../support/tills.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { assertVerified } from '../support/verified.ts'

/** What became of a draft: never recorded, failed without a charge, or a letter with its charge. */
type Outcome = 'none' | 'interrupted' | 'refused' | 'letter' | 'stopped'

/** A moment of a draft at which its process is killed. */
interface Moment {
  readonly fate: 'before' | 'sent' | 'answered'
  readonly step: string
  readonly becomes: readonly Outcome[]
  /** What happens to the draft besides. */
  readonly how?: 'stopped' | 'refused' | 'rewritten' | 'recovered'
  /** One of those that are also in `npm test`: after the hold, after the charge, and after a letter that replaces another. */
  readonly always?: true
}

const uncharged = ['interrupted'] as const
/** Whether a statement that was in flight took effect is open. */
const allMoments: readonly Moment[] = [
  { fate: 'before', step: 'the draft row', becomes: ['none'] },
  { fate: 'sent', step: 'the draft row', becomes: ['none', 'interrupted'] },
  { fate: 'answered', step: 'the draft row', becomes: uncharged },
  { fate: 'sent', step: 'the hold', becomes: uncharged },
  { fate: 'answered', step: 'the hold', becomes: uncharged, always: true },
  { fate: 'before', step: 'a look at the draft', becomes: uncharged },
  { fate: 'before', step: 'the stop', becomes: uncharged, how: 'stopped' },
  { fate: 'answered', step: 'the stop', becomes: uncharged, how: 'stopped' },
  { fate: 'before', step: 'the charge', becomes: uncharged },
  { fate: 'sent', step: 'the charge', becomes: ['interrupted', 'letter'] },
  { fate: 'answered', step: 'the charge', becomes: ['letter'], always: true },
  { fate: 'answered', step: 'the charge', becomes: ['stopped'], how: 'stopped' },
  { fate: 'sent', step: 'the letter', becomes: ['letter'] },
  { fate: 'answered', step: 'the letter', becomes: ['letter'] },
  { fate: 'sent', step: 'the letter', becomes: ['letter'], how: 'rewritten' },
  { fate: 'answered', step: 'the letter', becomes: ['letter'], how: 'rewritten', always: true },
  { fate: 'before', step: 'the release', becomes: uncharged, how: 'refused' },
  { fate: 'before', step: 'the end', becomes: uncharged, how: 'refused' },
  { fate: 'answered', step: 'the end', becomes: ['refused'], how: 'refused' },
  { fate: 'sent', step: 'the letter', becomes: ['letter'], how: 'recovered' },
  { fate: 'answered', step: 'the letter', becomes: ['letter'], how: 'recovered' },
]
const moments = allMoments.filter(({ always = false }) => isEndure || always)

const home = await createTestDatabase()
const vendor = await startVendor()
const setup = { ...draftingSettings(vendor.url), databaseUrl: home.url }
const firm = await startFirm(setup)
await firm.service.customer({ name: 'Portal', own: true })
const anna = await firm.join('Anna', 'consultant')
const client = await firm.client(anna)
const [notes, letters, drafts] = ['notes', 'letters', 'drafts'].map((each) => `/clients/${client}/${each}`)
const note = await anna.send('POST', String(notes), { date: '2026-03-12', text: 'A fee.' })
const written = await Promise.all(
  moments.map(() => anna.send('POST', String(letters), { subject: 'Ours', body: 'First.' })),
)
// Only the instances that are killed are running.
await firm.close()
const database = openDatabase(home.url, { log })
after(async () => {
  await database.close()
  await vendor.close()
  await home.drop()
})

const rows = (query: string, values: readonly unknown[] = []) =>
  asSuperuser(database, (tx) => tx.rows<Json>(query, values))
const child = path.join(import.meta.dirname, '../support/drafting-child.ts')

interface Asked {
  readonly body?: object
  /** Told what has arrived so far. */
  readonly onText?: (text: string) => unknown
}

/** Starts an instance that is killed at this moment. */
async function startInstance({ step, fate }: Pick<Moment, 'step' | 'fate'>) {
  const instance = spawn(process.execPath, [child, home.url, vendor.url, step, fate], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(instance, 'exit')
  const [line] = await Promise.race([once(instance.stdout, 'data'), ended.then(() => ['it did not start'])])
  return {
    /** Sends a request and reads what arrives of its response. */
    async ask(method: string, address: string, { body, onText = () => undefined }: Asked = {}): Promise<void> {
      const headers = { cookie: anna.cookie, 'sec-fetch-site': 'same-origin' }
      const sent = body && { headers: { ...headers, 'content-type': 'application/json' }, body: JSON.stringify(body) }
      // The process is killed while it answers.
      await fetch(String(line).trim() + address, { method, headers, ...sent })
        .then((response) => readText(response, onText))
        .catch(() => undefined)
    },
    async killed() {
      await until(() => instance.signalCode !== null)
      assert.equal(instance.signalCode, 'SIGKILL')
    },
  }
}

const draftOf = async (instructions: string) =>
  (await rows('select * from draft where instructions = $1', [instructions]))[0]

/** Drafts until the process is killed. The name of the moment is the draft's instructions. */
async function killAt(name: string, { step, fate, how }: Moment, letter: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const holdsBack = how === 'stopped' || step === 'a look at the draft'
  vendor.set({
    ...(how === 'refused' && { fault: 'context_length' }),
    ...(holdsBack && { gate: (token: number) => (token === 0 ? Promise.resolve() : promise) }),
  })
  const first = await startInstance(how === 'recovered' ? { step, fate: 'before' } : { step, fate })
  const body = { instructions: name, notes: [note.json['id']], ...(how === 'rewritten' && { letter }) }
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
  const answer = first.ask('POST', String(drafts), { body, onText: (text) => text.includes('event: delta') && begin() })
  if (how === 'stopped') {
    await begun
    await first.ask('POST', `${String(drafts)}/${String((await draftOf(name))?.['id'])}/stop`)
  }
  await first.killed()
  await answer
  resolve()
  if (how !== 'recovered') return
  // Another instance completes it when it is read.
  await rows(`update draft set created_at = created_at - interval '10 seconds' where instructions = $1`, [name])
  const second = await startInstance({ step, fate })
  await second.ask('GET', `${String(drafts)}/${String((await draftOf(name))?.['id'])}`)
  await second.killed()
}

async function outcomeOf(name: string): Promise<Outcome> {
  const draft = await draftOf(name)
  if (draft === undefined) return 'none'
  const { id, status, failure, letter_id: letter } = draft
  const charges = await rows('select client_id, person_id, stop_reason from ledger where request_id = $1', [id])
  if (status === 'failed') {
    assert.deepEqual([charges, letter], [[], null], `${name}: it failed, and cost something`)
    return failure === 'interrupted' ? 'interrupted' : 'refused'
  }
  const stopReason = status === 'stopped' ? 'cancelled' : 'complete'
  assert.deepEqual(charges, [{ client_id: client, person_id: anna.id, stop_reason: stopReason }], name)
  const [kept] = await rows('select body, generated from letter where id = $1', [letter])
  assert.deepEqual(kept, { body: status === 'stopped' ? 'Hello' : 'Hello there.', generated: true }, name)
  return status === 'stopped' ? 'stopped' : 'letter'
}

for (const [index, moment] of moments.entries()) {
  const { fate, step, how } = moment
  const name = `${step} ${fate}${how === undefined ? '' : ` (${how})`}`
  test(`B96 a process is killed: ${name}`, async () => {
    await killAt(name, moment, String(written[index]?.json['id']))
  })
}

test('B96 afterwards no letter is without its charge, and no charge without its draft', async () => {
  vendor.set({})
  // What has no hold and was not charged in a minute is given up.
  await rows(`update draft set created_at = created_at - interval '2 minutes' where status = 'running'`)
  const service = await startService(setup)
  await until(async () => (await rows(`select from draft where status = 'running'`)).length === 0)
  for (const { fate, step, how, becomes } of moments) {
    const name = `${step} ${fate}${how === undefined ? '' : ` (${how})`}`
    const outcome = await outcomeOf(name)
    assert.ok(becomes.includes(outcome), `${name}: ${outcome}`)
  }
  const [counts] = await rows(`select (select count(*)::int from ledger) as charges,
    (select count(*)::int from draft where status in ('complete', 'stopped')) as drafted,
    (select count(distinct letter_id)::int from draft where letter_id is not null) as kept,
    (select count(*)::int from letter where generated) as generated,
    (select count(*)::int from audit where action = 'letter_drafted') as noted,
    (select count(*)::int from hold) as held`)
  const { charges } = counts ?? {}
  assert.deepEqual(counts, { charges, drafted: charges, kept: charges, generated: charges, noted: charges, held: 0 })
  // A letter that was written anew has one more version, however often that was tried.
  assert.deepEqual(
    await rows(`select distinct l.version from letter l join draft d on d.rewrites = l.id where d.letter_id = l.id`),
    [{ version: 2 }],
  )
  assertVerified(await verifyDrafts(database))
  await service.close()
})
