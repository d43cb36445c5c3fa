import { execFileSync, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Whether a process runs, as any user. A zombie does not. */
export function isRunning(pid: number): boolean {
  return isPidInUse(pid) && statOf(pid)?.[0] !== 'Z'
}

/** Whether a process id is in use, even if only by a zombie. */
export function isPidInUse(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Sends a signal. Does nothing if the process has ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** A process's start time, to distinguish it from a later one with the same id. '0' if the system has no /proc. */
export function startOf(pid: number): string {
  return statOf(pid)?.[19] ?? '0'
}

/** Whether the folder is a process's working directory, as the cluster is of all its PostgreSQL processes. */
export function worksIn(pid: number, folder: string): boolean {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`) === folder
    // macOS does not show the working directory, but the cluster is an argument of the server.
    return execFileSync('ps', ['-o', 'command=', '-ww', '-p', String(pid)], { encoding: 'utf8' }).includes(folder)
  } catch {
    return false
  }
}

/** The ids of all processes in the folder. Empty if the system has no /proc. */
export function workersIn(folder: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && worksIn(pid, folder))
}

/** A process's title and used CPU time, as one text. Empty if the system has no /proc. */
export function workOf(pid: number): string {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    const [user, system] = statOf(pid)?.slice(11, 13) ?? []
    return `${title} ${pid} ${user} ${system}`
  } catch {
    return ''
  }
}

/** A process's resident memory in bytes. Null if the system has no /proc. */
export function memoryOf(pid: number | undefined): number | null {
  try {
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kibibytes === undefined ? null : Number(kibibytes) * 1024
  } catch {
    return null
  }
}

/** The fields of proc(5) stat after the second. The second, the name, may contain spaces and parentheses. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

/**
 * Resolves when the process has ended, with the signal, the exit status (`exit status 1`) or why it could not be started.
 * Never rejects.
 */
export function endOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? `exit status ${code}`))
    // If the process could not be started, there is no `exit`.
    child.on('error', (error) => {
      if (child.pid === undefined) resolve(error.message)
    })
  })
}
