import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { chmod, chown, mkdir, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Client } from 'pg'
import { detail } from '../../../tests/support/detail.ts'
import { isEndure } from '../../../tests/support/draws.ts'
import { embeddedTests, isRoot, nobody, query, serverOf } from '../../../tests/support/embedded.ts'
import { freePorts } from '../../../tests/support/start.ts'
import { listen } from '../../../tests/support/server.ts'
import { prepareDataFolder, readCredentials, superuserAddressOf, writeCredentials } from './cluster-files.ts'
import { embeddedError } from './embedded-error.ts'
import { openEmbedded } from './embedded-postgres.ts'
import { ensureEncryptionKey } from '../encryption/encryption-key.ts'
import { isRunning } from '../system/processes.ts'
import { OperatorError } from '../problems.ts'

const { log, logged, openFolder, folder, madeFolder, open, startChild } = embeddedTests()

const portOf = (url: string) => Number(new URL(url).port)

describe('one process', () => {
  test('creates a cluster, keeps its data, and stops it', async () => {
    const directory = await folder()
    // Left by processes that were killed while they were creating a cluster.
    await mkdir(join(directory, '.postgres-0123456789ab/cluster'), { recursive: true })
    await writeFile(join(directory, 'postgres.json.0123456789ab'), '')
    const first = await open(directory)
    await query(first.url, 'create table kept as select 1 as n')
    const pid = serverOf(directory)
    assert.ok(pid !== undefined && isRunning(pid))
    await Promise.all([first.close(), first.close()])
    assert.ok(!isRunning(pid))
    assert.equal(serverOf(directory), undefined)

    const files = await prepareDataFolder(directory)
    const credentials = await readCredentials(files)
    assert.equal(credentials.port, portOf(first.url))
    // Now one that no connection of another test can take before the server starts again.
    const port = await freePorts()
    await writeCredentials(files, { ...credentials, port })
    const again = await open(directory)
    assert.equal(portOf(again.url), port)
    assert.deepEqual(await query(again.url, 'select n from kept'), [{ n: 1 }])
    await again.close()
    assert.deepEqual((await readdir(directory)).toSorted(), ['postgres', 'postgres.json', 'postgres.log'])
  })

  test('B91 has a durable cluster that only its owner, who is no superuser, can access', async () => {
    const directory = await madeFolder()
    const embedded = await open(directory, {})
    const access = await readCredentials(await prepareDataFolder(directory))
    const [row] = await query(
      superuserAddressOf(access, 'tollgate'),
      `select current_setting('fsync') as fsync, current_setting('TimeZone') as zone,
        current_setting('max_connections') as connections, current_setting('listen_addresses') as host,
        current_setting('unix_socket_directories') as sockets, current_setting('log_error_verbosity') as errors, current_setting('server_version_num')::int / 10000 as version,
        (select datcollate || ' ' || datlocprovider::text || ' ' || datlocale from pg_database
          where datname = current_database()) as locale`,
    )
    assert.deepEqual(row, {
      fsync: 'on',
      zone: 'UTC',
      connections: '100',
      host: '127.0.0.1',
      sockets: join(directory, 'postgres'),
      errors: 'terse',
      version: 18,
      locale: 'C b C.UTF-8',
    })
    const [owner] = await query(
      embedded.url,
      'select rolsuper, rolbypassrls, rolreplication from pg_roles where rolname = current_user',
    )
    assert.deepEqual(owner, { rolsuper: false, rolbypassrls: false, rolreplication: false })
    const wrong = Object.assign(new URL(embedded.url), { password: 'wrong' })
    await assert.rejects(query(wrong.href, 'select 1'), { code: '28P01' })
    for (const [file, mode] of [
      ['postgres.json', 0o600],
      ['postgres.log', 0o600],
      ['postgres', 0o700],
    ] as const) {
      assert.equal((await stat(join(directory, file))).mode & 0o777, mode, file)
    }
    for (const password of [access.password, access.superuser]) {
      assert.ok(!logged().includes(password))
      assert.ok(!readFileSync(join(directory, 'postgres.log'), 'utf8').includes(password))
    }
    assert.ok(!embedded.url.includes(access.superuser))
    await embedded.close()
  })

  detail('works with a long path that contains spaces and quotes', async () => {
    const directory = await folder(`it's a "long" $HOME path/${'x'.repeat(120)}/${'y'.repeat(120)}`)
    const embedded = await open(directory)
    const access = await readCredentials(await prepareDataFolder(directory))
    const [row] = await query(
      superuserAddressOf(access, 'tollgate'),
      `select current_setting('unix_socket_directories') as sockets`,
    )
    assert.deepEqual(row, { sockets: '' })
    await embedded.close()
  })

  detail('takes another port if its own is in use', async () => {
    const directory = await madeFolder()
    const first = await open(directory)
    await first.close()
    const thief = createServer()
    await listen(thief, Number(new URL(first.url).port))
    const second = await open(directory)
    assert.notEqual(second.url, first.url)
    assert.deepEqual(await query(second.url, 'select 1 as n'), [{ n: 1 }])
    await second.close()
    thief.close()
  })
})

detail(
  'root leaves nothing in the data folder of a service that the service cannot use',
  { skip: isRoot ? false : 'only root can act for another user' },
  async () => {
    const directory = await folder()
    await mkdir(directory, { mode: 0o700 })
    await chown(directory, nobody.uid ?? 0, nobody.gid ?? 0)
    const created = await open(directory)
    await created.close()
    const thief = createServer()
    await listen(thief, Number(new URL(created.url).port))
    await rm(join(directory, 'postgres.log'))
    await (await open(directory)).close()
    thief.close()
    await ensureEncryptionKey({ data: directory })
    for (const name of await readdir(directory)) {
      assert.equal((await stat(join(directory, name))).uid, nobody.uid, name)
    }
    const { line } = await startChild(directory, { identity: nobody })
    assert.match(line, /^postgres:/)
  },
)

detail('a large log of the server is put aside', async () => {
  const directory = await madeFolder()
  const file = join(directory, 'postgres.log')
  await writeFile(file, 'early')
  await (await open(directory)).close()
  assert.match(readFileSync(file, 'utf8'), /^early/)
  await truncate(file, 10 * 1024 * 1024 + 1)
  await (await open(directory)).close()
  assert.doesNotMatch(readFileSync(file, 'utf8'), /^early/)
  assert.equal((await stat(`${file}.1`)).size, 10 * 1024 * 1024 + 1)
})

describe('several processes', () => {
  detail('know the port even if the one that started the server was killed before it wrote it', async () => {
    const directory = await madeFolder()
    const embedded = await open(directory)
    const files = await prepareDataFolder(directory)
    const credentials = await readCredentials(files)
    await writeCredentials(files, { ...credentials, port: 0 })
    const other = await open(directory)
    assert.equal(other.url, embedded.url)
    assert.deepEqual(await readCredentials(files), credentials)
    await other.close()
    await embedded.close()
  })

  test('that start at once on an empty folder share one server, and the last one stops it', async () => {
    const directory = await folder()
    const children = await Promise.all([1, 2].map(() => startChild(directory)))
    assert.match(children[0]?.line ?? '', /^postgres:/)
    assert.equal(new Set(children.map(({ line }) => line)).size, 1)
    const pid = serverOf(directory)
    assert.ok(pid !== undefined)
    for (const { end, line } of children) {
      assert.ok(isRunning(pid))
      assert.deepEqual(await query(line, 'select 1 as n'), [{ n: 1 }])
      assert.deepEqual(await end(), [0, null])
    }
    assert.ok(!isRunning(pid))
  })

  detail('that come and go constantly always find a server', async () => {
    const directory = await madeFolder()
    const visitor = async () => {
      for (let round = 0; round < 5; round += 1) {
        const embedded = await open(directory)
        assert.deepEqual(await query(embedded.url, 'select 1 as n'), [{ n: 1 }])
        await embedded.close()
      }
    }
    await Promise.all([visitor(), visitor(), visitor()])
    assert.equal(serverOf(directory), undefined)
  })

  detail(
    'a server does not depend on the terminal of the process that started it',
    { skip: process.platform !== 'linux' },
    async () => {
      const directory = await madeFolder()
      const embedded = await open(directory)
      assert.notEqual(sessionOf(serverOf(directory)), sessionOf(process.pid))
      await embedded.close()
    },
  )
})

/** The session (setsid(2)) of a process. */
function sessionOf(pid: number | undefined): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')[3]
}

describe('refuses in one line', () => {
  test('a data folder that is a file or below one', async () => {
    const directory = await folder()
    await writeFile(directory, '')
    await refused(directory, /something else is there: set TOLLGATE_DATA/)
    await refused(join(directory, 'below'), /something else is there: set TOLLGATE_DATA/)
  })

  test(
    'a data folder that cannot be created',
    { skip: process.platform === 'linux' ? false : 'there is no /proc' },
    async () => {
      for (const directory of ['/proc/tollgate', '/proc/tollgate/data/folder']) {
        await refused(directory, /^\/proc\/tollgate cannot be created or written: set TOLLGATE_DATA/)
      }
    },
  )

  test('a data folder without write or search permission', async () => {
    const parent = await openFolder()
    await chmod(parent, 0o555)
    const inside = await startChild(join(parent, 'data'), { identity: nobody })
    assert.match(inside.line, /^This user may not use .*: give it to this user, or set TOLLGATE_DATA/)
    if (!isEndure) return
    const refusal = await startChild(parent, { identity: nobody })
    assert.ok(refusal.line.startsWith(`This user may not use ${parent}: give it to this user`), refusal.line)
    const closed = await folder()
    await mkdir(closed, { mode: isRoot ? 0o700 : 0o000 })
    assert.match((await startChild(closed, { identity: nobody })).line, /^This user may not use/)
    assert.deepEqual(await readdir(parent), [])
  })

  test('a server that does not respond, as on a full disk', async () => {
    const silent = createServer()
    const client = new Client({ host: '127.0.0.1', port: await listen(silent), connectionTimeoutMillis: 50 })
    const failure = await client.connect().catch((error: unknown) => embeddedError(error, '/data'))
    silent.close()
    assert.ok(failure instanceof OperatorError, String(failure))
    assert.equal(
      failure.message,
      'The embedded database in /data does not respond. Check that its disk is not full, and see its log: /data/postgres.log',
    )
  })

  detail('a database that a server in another container uses', async () => {
    const directory = await madeFolder()
    const embedded = await open(directory)
    const file = join(directory, 'postgres/postmaster.pid')
    const written = readFileSync(file, 'utf8')
    // Another container has other processes: none with this id, or one that is no server.
    for (const pid of ['999999999', String(process.pid)]) {
      await writeFile(file, written.replace(/^\d+/, pid))
      await assert.rejects(open(directory), (error) => {
        assert.ok(error instanceof OperatorError, String(error))
        assert.match(
          error.message,
          /^The database in .*postgres is in use by a server .* another container: run .*"docker exec"/,
        )
        return true
      })
      assert.deepEqual(await query(embedded.url, 'select 1 as n'), [{ n: 1 }])
    }
    await writeFile(file, written)
    await embedded.close()
    await (await open(directory)).close()
  })

  test('a damaged or wrong password file', async () => {
    const directory = await madeFolder()
    await writeFile(join(directory, 'postgres.json'), '{"passw')
    await refused(directory, /postgres\.json is damaged or missing: restore it/)
    await rm(join(directory, 'postgres.json'))
    await refused(directory, /postgres\.json is damaged or missing: restore it/)
    await writeFile(join(directory, 'postgres.json'), '{"password":"wrong","superuser":"wrong","port":0}')
    await refused(directory, /The password in .*postgres\.json is not the database's/)
    assert.equal(serverOf(directory), undefined, 'the server is still running')
  })

  test('a cluster that PostgreSQL cannot read', async () => {
    const directory = await madeFolder()
    await writeFile(join(directory, 'postgres/PG_VERSION'), '9.6\n')
    await refused(
      directory,
      /is from PostgreSQL 9\.6, which this version of Tollgate cannot open: use the version that created it\. Its log is /,
    )
  })
})

async function refused(directory: string, line: RegExp): Promise<void> {
  await assert.rejects(openEmbedded({ directory, log }), (error) => {
    assert.ok(error instanceof OperatorError, String(error))
    assert.match(error.message, line)
    assert.ok(!error.message.includes('\n'))
    return true
  })
}
