import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, chmod, chown, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bareEnvironment, type Binaries } from './binaries.ts'
import { superuserName, writeAccess, type Place } from './place.ts'
import type { Settings } from './server.ts'
import { giveTo, launcherFor, serverOwner, type Launcher } from './user.ts'
import { OperatorError } from '../problems.ts'

const exec = promisify(execFile)

// The collation is the one that comes with PostgreSQL itself and is the same on every system.
const initdbOptions =
  '--auth=scram-sha-256 --encoding=UTF8 --locale=C --locale-provider=builtin --builtin-locale=C.UTF-8'.split(' ')

/**
 * Makes the cluster if there is none, and says how its programs are run. A cluster is made beside its place and moved
 * there whole, so that a kill at any moment leaves either none or a complete one; it is on the disk before it is used,
 * unless the settings do without (fsync off). Only under the place's lock.
 */
export async function prepareCluster(place: Place, binaries: Binaries, settings: Settings): Promise<Launcher> {
  const owner = await serverOwner(place.cluster)
  await removeLeftovers(place)
  if (!(await exists(place))) {
    const workshop = join(place.root, `.postgres-${randomBytes(6).toString('hex')}`)
    await mkdir(workshop, { mode: 0o700 })
    try {
      if (owner !== undefined) await chown(workshop, owner.uid, owner.gid)
      const flags = settings['fsync'] === 'off' ? ['--no-sync'] : []
      await makeCluster(place, binaries, workshop, flags)
    } finally {
      await rm(workshop, { recursive: true, force: true })
    }
  }
  // A copy or a restored backup may have another owner or mode than PostgreSQL insists on.
  await giveTo(owner, place.cluster)
  await chmod(place.cluster, 0o700)
  return launcherFor(owner, binaries, place.cluster)
}

async function exists(place: Place): Promise<boolean> {
  try {
    await access(join(place.cluster, 'PG_VERSION'))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

async function removeLeftovers(place: Place): Promise<void> {
  const leftovers = (await readdir(place.root)).filter((name) =>
    /^(?:\.postgres-|postgres\.json\.)[0-9a-f]{12}$/.test(name),
  )
  for (const name of leftovers) await rm(join(place.root, name), { recursive: true, force: true, maxRetries: 3 })
}

const newPassword = () => randomBytes(24).toString('base64url')

async function makeCluster(place: Place, binaries: Binaries, workshop: string, flags: string[]): Promise<void> {
  const secrets = { password: newPassword(), superuser: newPassword(), port: 0 }
  const fresh = join(workshop, 'cluster')
  const passwordFile = join(workshop, 'password')
  await writeFile(passwordFile, secrets.superuser, { mode: 0o600 })
  const owner = await serverOwner(workshop)
  await giveTo(owner, passwordFile)
  const launcher = await launcherFor(owner, binaries, workshop)
  const options = ['-D', fresh, '-U', superuserName, '--pwfile', passwordFile, ...initdbOptions, ...flags]
  const { file, args, identity } = launcher(binaries.initdb, options)
  try {
    await exec(file, args, { ...identity, env: bareEnvironment, cwd: '/' })
  } catch (error) {
    throw new OperatorError(`The database could not be made in ${place.root}: ${initdbReason(error)}.`, {
      cause: error,
    })
  }
  await writeAccess(place, secrets)
  await rename(fresh, place.cluster)
}

function initdbReason(error: unknown): string {
  const said = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  if (said.includes('No space left on device')) return 'the disk is full'
  const line = said.split('\n').find((text) => /error:|FATAL:|terminated by/.test(text))
  return line?.replace(/^.*(?:error|FATAL): +/, '') ?? (error instanceof Error ? error.message : String(error))
}
