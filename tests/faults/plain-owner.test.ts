import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client } from 'pg'
import { migrate } from '../../src/platform/migrations.ts'
import { startCluster, template, type Cluster } from '../support/cluster.ts'
import { tollgateHere } from '../support/command-line.ts'
import { startFirm } from '../support/firm.ts'
import { parseObject } from '../support/json.ts'

// A database as a firm has it: its owner is no superuser, and so row-level security binds the owner as well.

let cluster: Cluster
let admin: Client

before(async () => {
  cluster = await startCluster()
  admin = new Client(cluster.url)
  await admin.connect()
  // As if nobody had ever used it for this.
  await admin.query(`drop database ${template}`)
  await forgetRoles()
})
after(async () => {
  await admin.end()
  await cluster.stop()
})

async function forgetRoles(): Promise<void> {
  await admin.query('drop role if exists tollgate_portal, tollgate_consultant, tollgate_partner')
}

/** A database of its own for an owner of its own; its address. */
async function ownedBy(name: string, attributes: string): Promise<string> {
  await admin.query(`create role ${name} login ${attributes} password 'owners-password'`)
  await admin.query(`create database ${name} owner ${name}`)
  const url = new URL(cluster.url)
  url.username = name
  url.password = 'owners-password'
  url.pathname = `/${name}`
  return url.href
}

describe('an owner who may create roles', () => {
  test('has the whole portal: records, revisions, audit log, commands, and a chain that verify proves', async () => {
    const databaseUrl = await ownedBy('firm', 'createrole')
    const firm = await startFirm({ databaseUrl })
    const [anna, paula] = [await firm.join('Anna', 'consultant'), await firm.join('Paula', 'partner')]
    const client = await firm.client(anna, 'Berg')
    const note = await anna.send('POST', `/clients/${client}/notes`, { date: '2026-03-12', text: 'first' })
    const address = `/clients/${client}/notes/${String(note.json['id'])}`
    assert.equal((await anna.send('PATCH', address, { text: 'second' }, { 'if-match': '"1"' })).status, 200)
    assert.equal((await anna.get(`${address}/revisions`)).status, 200)
    assert.equal(
      (await paula.send('PATCH', `/clients/${client}`, { consultant_id: paula.id }, { 'if-match': '*' })).status,
      200,
    )
    assert.equal((await anna.get(`/clients/${client}`)).status, 403)
    assert.equal((await paula.get('/search?q=second')).status, 200)
    assert.equal((await paula.get('/audit')).status, 200)
    assert.equal((await paula.get('/people')).status, 200)
    await firm.close()

    const environment = { DATABASE_URL: databaseUrl, TOLLGATE_DATA: '/nowhere' }
    const listed = await tollgateHere(['client', 'list', '--json'], environment)
    assert.match(listed.stdout, /"name":"Berg"/, listed.stderr)
    const verdict = await tollgateHere(['verify', '--json'], environment)
    assert.equal(parseObject(verdict.stdout)['ok'], true, verdict.stdout)
  })

  test('sees no record by itself, and cannot change the log', async () => {
    const url = new URL(cluster.url)
    url.username = 'firm'
    url.password = 'owners-password'
    url.pathname = '/firm'
    const owner = new Client(url.href)
    await owner.connect()
    for (const table of ['client', 'note', 'dispute', 'letter', 'revision']) {
      assert.deepEqual((await owner.query(`select * from ${table}`)).rows, [], table)
    }
    for (const table of ['audit', 'audit_seal', 'revision']) {
      await assert.rejects(owner.query(`delete from ${table}`), { code: '42501' })
    }
    assert.ok((await owner.query('select * from audit')).rows.length > 5)
    await owner.end()
  })
})

describe('an owner who may not create roles', () => {
  test('is told what an administrator has to run, and after that it works', async () => {
    await admin.query('drop database firm')
    await forgetRoles()
    const databaseUrl = await ownedBy('plain', '')
    const refusal = await migrate(databaseUrl).catch((error: Error) => error)
    assert.ok(refusal instanceof Error)
    assert.ok(!refusal.message.includes('\n'))
    const [, statements = ''] = /run "([^"]+)"/.exec(refusal.message) ?? []
    assert.match(statements, /create role tollgate_consultant/)
    await admin.query(statements)
    const second = await startFirm({ databaseUrl }).catch((error: Error) => error)
    assert.ok(second instanceof Error)
    const [, password = ''] = /start again: (.+)$/.exec(second.message) ?? []
    assert.match(password, /^alter role tollgate_portal login/, second.message)
    await admin.query(password)
    const firm = await startFirm({ databaseUrl })
    const anna = await firm.join('Anna', 'consultant')
    assert.equal((await anna.get(`/clients/${await firm.client(anna)}`)).status, 200)
    await firm.close()
  })
})
