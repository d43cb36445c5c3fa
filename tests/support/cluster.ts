import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, statfsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { findBinaries } from '../../src/platform/embedded-postgres/binaries.ts'
import { prepareCluster } from '../../src/platform/embedded-postgres/cluster.ts'
import {
  addressOf,
  ownerName,
  prepareDataFolder,
  readCredentials,
  superuserAddressOf,
  type ClusterFiles,
} from '../../src/platform/embedded-postgres/cluster-files.ts'
import { ensureDatabase, ensureOwner } from '../../src/platform/embedded-postgres/lease-store.ts'
import { freePort, readRunning, startServer } from '../../src/platform/embedded-postgres/server.ts'
import { migrate } from '../../src/platform/database/migrations.ts'

/** The template: a database with all migrations applied, from which others are copied. */
export const template = 'tollgate_template'

/** Where Linux keeps files in memory. */
const memory = '/dev/shm'
/** In bytes. All databases of a run together need about a fifth. */
const leastMemory = 4 * 2 ** 30

// No test survives a crash of the machine, so fsync is off. A killed server still loses nothing.
const settings = { fsync: 'off', full_page_writes: 'off', max_connections: '300', shared_buffers: '64MB' }

// Checking a password takes a sixth of what a connection costs. Only "stranger", who does not exist, has to show one.
const rules = ['local all all trust', 'host all stranger all scram-sha-256', 'host all all 127.0.0.1/32 trust', '']

/** The clock that `npm run steady` shifts, which PostgreSQL would not see: it gets nothing of our environment. */
const shiftedClock = Object.entries(process.env).flatMap(([name, value]) =>
  /^(LD_PRELOAD|FAKETIME.*)$/.test(name) ? [`${name}=${value}`] : [],
)

export interface Cluster {
  /** The address of its database "postgres" as an ordinary user, who owns the template. */
  readonly url: string
  /** The same as the superuser. */
  readonly superuserUrl: string
  /** A folder for what test files share. It is removed with the server's files. */
  readonly folder: string
  stop(): Promise<void>
}

/**
 * Starts a PostgreSQL server. It stops, and its files are removed, when this process ends, even if killed. `asksForPasswords`: of everybody,
 * as in production. `programs`: the folder of an older PostgreSQL's programs.
 */
export async function startCluster({
  asksForPasswords = false,
  programs,
}: { readonly asksForPasswords?: boolean; readonly programs?: string } = {}): Promise<Cluster> {
  const directory = await mkdtemp(join(roomiest(), 'tollgate-test-'))
  await chmod(directory, 0o711)
  const place = await prepareDataFolder(directory)
  const binaries =
    programs === undefined
      ? await findBinaries()
      : { initdb: join(programs, 'initdb'), postgres: join(programs, 'postgres') }
  const launcher = await prepareCluster(place, binaries, settings, programs === undefined ? undefined : [])
  if (!asksForPasswords) await writeFile(join(place.cluster, 'pg_hba.conf'), rules.join('\n'))
  const launchShifted: typeof launcher = (file, args) => {
    const { identity, ...launch } = launcher(file, args)
    return { identity, file: 'env', args: [...shiftedClock, launch.file, ...launch.args] }
  }
  const port = await startServer(place, binaries, launchShifted, { choosePort: freePort, settings })
  const stop = await watch(place)
  const access = { ...(await readCredentials(place)), port }
  const admin = new Client(superuserAddressOf(access, 'postgres'))
  await admin.connect()
  // The same rights as in production: the owner is subject to row-level security and may create roles.
  await ensureOwner(admin, ownerName, access.password)
  await ensureDatabase(admin, template, ownerName)
  await admin.end()
  await migrate(addressOf(access, template))
  const folder = join(place.root, 'shared')
  await mkdir(folder)
  return { url: addressOf(access, 'postgres'), superuserUrl: superuserAddressOf(access, 'postgres'), folder, stop }
}

/** Memory, if there is enough: in files on a disk, creating a database takes ten times as long. */
function roomiest(): string {
  try {
    const { bavail, bsize } = statfsSync(memory)
    accessSync(memory, constants.W_OK)
    return bavail * bsize > leastMemory ? memory : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Waits for this process to end, then stops the server and removes its files. */
async function watch(place: ClusterFiles): Promise<() => Promise<void>> {
  const running = await readRunning(place)
  const script = 'read -r _; kill -QUIT "$1"; while kill -0 "$1" 2>&-; do sleep 0.05; done; rm -rf "$2"'
  const watchdog = spawn('/bin/sh', ['-c', script, 'watchdog', String(running?.pid), place.root], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watchdog.unref()
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref()
  return async () => {
    const exited = once(watchdog, 'exit')
    watchdog.ref()
    watchdog.stdin.end()
    await exited
  }
}
