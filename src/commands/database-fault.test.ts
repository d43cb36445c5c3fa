import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { stringify } from 'yaml'
import { tollgate, tollgateHere, type Outcome } from '../../tests/support/command-line.ts'
import { createTestDatabase } from '../../tests/support/database.ts'
import { isEndure } from '../../tests/support/draws.ts'
import { createTestLog } from '../../tests/support/log.ts'
import { fixture, temporaryFolder } from '../../tests/support/fixture.ts'
import { upstreamModel } from '../../tests/support/service.ts'
import { freePorts } from '../../tests/support/start.ts'
import { listen } from '../../tests/support/server.ts'
import { openDatabase } from '../platform/database/database.ts'

const folder = temporaryFolder()

const home = fixture(() => createTestDatabase())

async function run(args: readonly string[], databaseUrl: string, processes = 1): Promise<Outcome> {
  // A file of its own: commands that run at once must not read what another one is writing.
  const TOLLGATE_CONFIG = path.join(folder, `${randomUUID()}.yaml`)
  const port = await freePorts()
  await writeFile(
    TOLLGATE_CONFIG,
    stringify({ listen: { processes, port }, models: [upstreamModel('http://127.0.0.1:9')] }),
  )
  const call = processes > 1 ? tollgate : tollgateHere
  const outcome = await call(args, { DATABASE_URL: databaseUrl, TOLLGATE_DATA: folder, TOLLGATE_CONFIG })
  assert.equal(outcome.status, 1, outcome.stdout + outcome.stderr)
  assert.ok(!`${outcome.stdout}${outcome.stderr}`.includes(new URL(databaseUrl).password), 'it shows the password')
  return outcome
}

/** Numbers of processes. Several report the faults of a start as one does. */
const counts: readonly number[] = isEndure ? [1, 2] : [1]

/** What `start`, `doctor` and a command say, without the log. */
async function reports(databaseUrl: string): Promise<string[]> {
  const [doctor, list, ...starts] = await Promise.all([
    run(['doctor'], databaseUrl),
    run(['account', 'list'], databaseUrl),
    ...counts.map((count) => run(['start'], databaseUrl, count)),
  ])
  const wrong = doctor.stdout.split('\n').find((line) => line.startsWith('WRONG')) ?? assert.fail(doctor.stdout)
  return [wrong.slice(22), ...[list, ...starts].map(({ stderr }) => stderr.trim().split('\n').at(-1) ?? '')]
}

/** Runs statements as a superuser in the database. */
async function administer(...statements: readonly string[]): Promise<void> {
  const database = openDatabase(home.superuserUrl, { log: createTestLog().log, connections: 1 })
  for (const statement of statements) await database.rows(statement)
  await database.close()
}

test('a database that accepts connections and never answers', async () => {
  const sockets = new Set<Socket>()
  const silent = createServer((socket) => void sockets.add(socket.on('error', () => undefined)))
  const port = await listen(silent)
  const lines = await reports(`postgres://firm:secret-word@127.0.0.1:${port}/firm`)
  for (const socket of sockets) socket.destroy()
  silent.close()
  const line = `The database at 127.0.0.1:${port} does not respond: check that PostgreSQL runs there, that its disk is not full, and that no firewall blocks it.`
  assert.deepEqual(new Set(lines), new Set([line]))
})

test('a user without rights in the database, or who may not connect to it', async () => {
  const role = `stranger_${Date.now()}`
  const name = new URL(home.url).pathname.slice(1)
  await administer(`create role ${role} login password 'secret-word'`)
  const url = Object.assign(new URL(home.url), { username: role, password: 'secret-word' })
  for (const refusal of ['table migration', `database "${name}"`]) {
    if (refusal.startsWith('database')) await administer(`revoke connect on database ${name} from public`)
    const line = `The user "${role}" lacks a right in the database "${name}" at ${url.host} (permission denied for ${refusal}): name the database's owner in its address, or have an administrator grant the right.`
    assert.deepEqual(new Set(await reports(url.href)), new Set([line]))
  }
  await administer(`grant connect on database ${name} to public`)
  await administer(`drop role ${role}`)
})

test('a right that is missing where the service begins to work', async () => {
  const { host, pathname, username } = new URL(home.url)
  for (const table of ['encryption_check', 'account']) {
    await administer(`revoke all on ${table} from ${username}`)
    const { stdout } = await run(['doctor'], home.url)
    const line = `The user "${username}" lacks a right in the database "${pathname.slice(1)}" at ${host} (permission denied for table ${table}): `
    if (table === 'account') {
      assert.ok((await run(['account', 'list'], home.url)).stderr.startsWith(line))
    } else {
      assert.ok(stdout.includes(line), stdout)
      for (const count of counts) {
        const { stderr } = await run(['start'], home.url, count)
        assert.ok(stderr.includes(line), stderr)
        assert.doesNotMatch(stderr, /Unexpected error/)
      }
    }
    await administer(`grant all on ${table} to ${username}`)
  }
})

test('a full disk', async () => {
  // PostgreSQL reports a full disk with this code. The test cannot fill the disk of the others' databases.
  await administer(
    `create function fill() returns trigger language plpgsql as $$ begin
       raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`,
    'create trigger fill before insert on encryption_check execute function fill()',
    'create trigger fill before insert on account execute function fill()',
  )
  const line = `The disk of the database at ${new URL(home.url).host} is full: free some space there.`
  assert.equal((await run(['account', 'create', '--name', 'Acme'], home.url)).stderr, `${line}\n`)
  for (const count of counts) {
    const { stderr } = await run(['start'], home.url, count)
    assert.equal(stderr.trim().split('\n').at(-1), line)
  }
})

test('a database that gets no disk space', async () => {
  const { host, username } = new URL(home.url)
  // A full disk, too, is noticed only by writing. This is the limit of a user, which the others' databases do not have.
  await administer(`alter role ${username} set temp_file_limit = '1kB'`)
  const { stdout } = await run(['doctor'], home.url)
  await administer(`alter role ${username} reset temp_file_limit`)
  const line = `The database at ${host} cannot be used: temporary file size exceeds "temp_file_limit" (1kB).`
  assert.ok(stdout.includes(line), stdout)
})
