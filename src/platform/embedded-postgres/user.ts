import { execFile } from 'node:child_process'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { bareEnvironment, type Binaries } from './binaries.ts'
import { OperatorError } from '../problems.ts'

const exec = promisify(execFile)

/** A user of the system. */
export interface SystemUser {
  readonly uid: number
  readonly gid: number
}

/** A program to spawn, with its user. */
export interface Launch {
  readonly file: string
  readonly args: readonly string[]
  readonly identity: Partial<SystemUser>
}

export type Launcher = (file: string, args: readonly string[]) => Launch

/**
 * The user to run PostgreSQL as; undefined is the current one. PostgreSQL refuses to run as root. Then it is the owner of
 * the cluster or of the folder that contains it, or "postgres", or "nobody".
 */
export async function serverOwner(cluster: string): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  for (const folder of [cluster, dirname(cluster)]) {
    const { uid, gid } = await stat(folder).catch(() => ({ uid: 0, gid: 0 }))
    if (uid !== 0) return { uid, gid }
  }
  return (await userNamed('postgres')) ?? (await userNamed('nobody')) ?? Promise.reject(new OperatorError(noUser))
}

const noUser =
  'PostgreSQL does not run as root, and there is no user "postgres" or "nobody": run Tollgate as an ordinary user.'

async function userNamed(name: string): Promise<SystemUser | undefined> {
  try {
    const [uid, gid] = await Promise.all([exec('id', ['-u', name]), exec('id', ['-g', name])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  } catch {
    return undefined
  }
}

/** Makes the user the owner of a folder and its contents. */
export async function giveTo(owner: SystemUser | undefined, folder: string): Promise<void> {
  if (owner === undefined) return
  const { uid } = await stat(folder)
  if (uid === owner.uid) return
  await exec('chown', ['-R', `${owner.uid}:${owner.gid}`, folder])
}

/**
 * Finds a way to run the binaries as the owner of a folder: directly or, if a parent folder is closed to that user (a clone
 * under /root), with a capability. Throws OperatorError if neither works.
 */
export async function launcherFor(
  owner: SystemUser | undefined,
  binaries: Binaries,
  folder: string,
): Promise<Launcher> {
  if (owner === undefined) return (file, args) => ({ file, args, identity: {} })
  const direct: Launcher = (file, args) => ({ file, args, identity: owner })
  if (await reaches(direct, binaries, folder)) return direct
  const capable: Launcher = (file, args) => ({
    file: 'setpriv',
    args: [...passing(owner), file, ...args],
    identity: {},
  })
  if (await reaches(capable, binaries, folder)) return capable
  throw new OperatorError(
    `PostgreSQL does not run as root, and the user ${owner.uid} cannot reach ${folder} or ${binaries.postgres}: ` +
      'run Tollgate as an ordinary user, or move it and its data to folders that other users may enter (chmod o+x).',
  )
}

/**
 * setpriv(1): switches to the user but keeps one ambient capability, CAP_DAC_OVERRIDE, which programs inherit
 * (capabilities(7)). Without the secure bit, access(2), which PostgreSQL uses, would ignore it.
 */
function passing({ uid, gid }: SystemUser): string[] {
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
    '--securebits=+no_setuid_fixup',
  ]
}

async function reaches(launcher: Launcher, binaries: Binaries, folder: string): Promise<boolean> {
  const { file, args, identity } = launcher('/bin/sh', [
    '-c',
    'cd "$1" && exec "$0" --version',
    binaries.postgres,
    folder,
  ])
  try {
    await exec(file, args, { ...identity, env: bareEnvironment, cwd: '/' })
    return true
  } catch {
    return false
  }
}
