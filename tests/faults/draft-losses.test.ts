import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, test } from 'node:test'
import { stringify } from 'yaml'
import { startFirm, type Firm, type Member } from '../support/firm.ts'
import { upstreamModel } from '../support/service.ts'
import { freePorts, start } from '../support/start.ts'
import { asSuperuser } from '../support/superuser.ts'
import { until } from '../support/until.ts'
import { startVendor, type Vendor } from '../support/vendor.ts'

/** Ends the process of an instance at many points of a draft. Another instance on the same database looks afterwards. */
const kills = 5
const draftsPerKill = 4

let vendor: Vendor
let firm: Firm
let anna: Member
let root: string
let drafts: string
let note: string
before(async () => {
  vendor = await startVendor()
  vendor.set({ tokens: 12, tokensPerSecond: 40 })
  firm = await startFirm({ models: [upstreamModel(vendor.url)] })
  await firm.service.customer({ name: 'Portal', own: true })
  anna = await firm.join('Anna', 'consultant')
  const client = await firm.client(anna)
  drafts = `/clients/${client}/drafts`
  const made = await anna.send('POST', `/clients/${client}/notes`, { date: '2026-03-12', text: 'A fee.' })
  note = String(made.json['id'])
  root = await mkdtemp(path.join(tmpdir(), 'tollgate-drafts-'))
})
after(async () => {
  await firm.close()
  await vendor.close()
  await rm(root, { recursive: true })
})

async function killWhileDrafting(round: number): Promise<void> {
  const port = await freePorts()
  const settings = {
    listen: { port },
    base_url: `http://127.0.0.1:${port}`,
    encryption_key: Buffer.alloc(32, 7).toString('base64'),
    models: [upstreamModel(vendor.url)],
    drafting: { account: 'Portal', model: 'fast' },
  }
  const file = path.join(root, `${round}.yaml`)
  await writeFile(file, stringify(settings))
  const child = await start({
    DATABASE_URL: firm.service.databaseUrl,
    TOLLGATE_CONFIG: file,
    TOLLGATE_DATA: root,
    TOLLGATE_DEMO: '0',
  })
  const asked = Array.from({ length: draftsPerKill }, async (_, index) => {
    // Apart by more than a step of a draft takes, so that each is killed at another point.
    await sleep(index * 110 + round * 23)
    await fetch(`http://127.0.0.1:${port}${drafts}`, {
      method: 'POST',
      headers: { cookie: anna.cookie, 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ instructions: 'Write.', notes: [note] }),
    })
      .then((response) => response.text())
      .catch(() => undefined)
  })
  await sleep(3 * 110 + round * 23 + 40 * round)
  await child.end('SIGKILL')
  await Promise.all(asked)
}

const rows = <Row>(query: string) => asSuperuser(firm.service.database, (tx) => tx.rows<Row>(query))

test('B96: a process killed at 20 points of drafts leaves no letter without its charge and no charge without its draft', async () => {
  for (let round = 0; round < kills; round++) await killWhileDrafting(round)
  // The reaper ends the holds; a draft that was never held is given up after a minute.
  await rows(`update draft set created_at = created_at - interval '2 minutes' where status = 'running'`)
  await until(async () => (await rows(`select from draft where status = 'running'`)).length === 0)
  const [started] = await rows<{ count: bigint }>('select count(*) from draft')
  assert.ok(started && started.count >= kills * draftsPerKill - kills, 'too few drafts began')
  assert.deepEqual(
    await rows(`select request_id from ledger l where person_id is not null and client_id is not null
      and not exists (select from draft d where d.id = l.request_id and d.client_id = l.client_id)`),
    [],
    'a charge without a draft',
  )
  assert.deepEqual(
    await rows(`select id from letter where generated and not exists (
      select from draft d join ledger l on l.request_id = d.id where d.letter_id = letter.id)`),
    [],
    'a generated letter without its charge',
  )
  assert.deepEqual(
    await rows(`select d.id from draft d join ledger l on l.request_id = d.id where d.letter_id is null`),
    [],
    'a charged draft without its letter',
  )
  assert.deepEqual(
    await rows(`select letter_id from draft where letter_id is not null group by 1 having count(*) > 1`),
    [],
  )
  assert.deepEqual(
    await rows(
      `select id from draft where status = 'failed' and exists (select from ledger where request_id = draft.id)`,
    ),
    [],
  )
})
