import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { access, chmod, chown, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { bareEnvironment, type Binaries } from './binaries.ts'
import { superuserName, writeCredentials, type ClusterFiles } from './cluster-files.ts'
import type { ServerSettings } from './server.ts'
import { giveTo, launcherFor, serverOwner, type Launcher } from './user.ts'
import { OperatorError } from '../problems.ts'

const exec = promisify(execFile)

const initdbOptions = ['--auth=scram-sha-256', '--encoding=UTF8', '--locale=C']
// The builtin collation is the same on every system.
const builtinLocale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8']

/**
 * Creates the cluster unless it exists, and returns how to run its programs. Atomic: a new cluster is created in a temporary
 * folder and then renamed. It is synced to disk first, unless the settings turn fsync off. The caller must hold the
 * cluster's file lock. `locale`: for binaries older than 17, which have no builtin locales.
 */
export async function prepareCluster(
  files: ClusterFiles,
  binaries: Binaries,
  settings: ServerSettings,
  locale = builtinLocale,
): Promise<Launcher> {
  const owner = await serverOwner(files.cluster)
  await removeLeftovers(files)
  if (!(await exists(files))) {
    const workspace = join(files.root, `.postgres-${randomBytes(6).toString('hex')}`)
    await mkdir(workspace, { mode: 0o700 })
    try {
      if (owner !== undefined) await chown(workspace, owner.uid, owner.gid)
      const flags = settings['fsync'] === 'off' ? ['--no-sync'] : []
      await makeCluster(files, binaries, workspace, [...locale, ...flags])
    } finally {
      await rm(workspace, { recursive: true, force: true })
    }
  }
  // A copy or a restored backup may not have the owner and mode that PostgreSQL requires.
  await giveTo(owner, files.cluster)
  await chmod(files.cluster, 0o700)
  return launcherFor(owner, binaries, files.cluster)
}

async function exists(files: ClusterFiles): Promise<boolean> {
  try {
    await access(join(files.cluster, 'PG_VERSION'))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

async function removeLeftovers(files: ClusterFiles): Promise<void> {
  const leftovers = (await readdir(files.root)).filter((name) =>
    /^(?:\.postgres-|postgres\.json\.)[0-9a-f]{12}$/.test(name),
  )
  for (const name of leftovers) await rm(join(files.root, name), { recursive: true, force: true, maxRetries: 3 })
}

const newPassword = () => randomBytes(24).toString('base64url')

async function makeCluster(files: ClusterFiles, binaries: Binaries, workspace: string, flags: string[]): Promise<void> {
  const secrets = { password: newPassword(), superuser: newPassword(), port: 0 }
  const fresh = join(workspace, 'cluster')
  const passwordFile = join(workspace, 'password')
  await writeFile(passwordFile, secrets.superuser, { mode: 0o600 })
  const owner = await serverOwner(workspace)
  await giveTo(owner, passwordFile)
  const launcher = await launcherFor(owner, binaries, workspace)
  const options = ['-D', fresh, '-U', superuserName, '--pwfile', passwordFile, ...initdbOptions, ...flags]
  const { file, args, identity } = launcher(binaries.initdb, options)
  try {
    await exec(file, args, { ...identity, env: bareEnvironment, cwd: '/' })
  } catch (error) {
    throw new OperatorError(`The database could not be created in ${files.root}: ${initdbReason(error)}.`, {
      cause: error,
    })
  }
  await writeCredentials(files, secrets)
  await rename(fresh, files.cluster)
}

function initdbReason(error: unknown): string {
  const output = error instanceof Error && 'stderr' in error ? String(error.stderr) : ''
  if (output.includes('No space left on device')) return 'the disk is full'
  const line = output.split('\n').find((text) => /error:|FATAL:|terminated by/.test(text))
  return line?.replace(/^.*(?:error|FATAL): +/, '') ?? (error instanceof Error ? error.message : String(error))
}
