import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Whether a process lives. A zombie does not; a process of another user does. */
export function isRunning(pid: number): boolean {
  return isTaken(pid) && statOf(pid)?.[0] !== 'Z'
}

/** Whether a process id is in use, if only by a zombie. */
export function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Sends a signal; to a process that has ended in the meantime there is nothing to send. */
export function tell(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

/** When a process started, to tell it from a later one with the same id; '0' where the system does not say. */
export function startOf(pid: number): string {
  return statOf(pid)?.[19] ?? '0'
}

/** Whether a process works in the folder, as a PostgreSQL server and all its processes do in their cluster's. */
export function worksIn(pid: number, folder: string): boolean {
  try {
    if (process.platform === 'linux') return readlinkSync(`/proc/${pid}/cwd`) === folder
    // Elsewhere the folder of another process is hard to learn, but the server is started with its name.
    return execFileSync('ps', ['-o', 'command=', '-ww', '-p', String(pid)], { encoding: 'utf8' }).includes(folder)
  } catch {
    return false
  }
}

/** The ids of all processes that work in the folder; none where the system does not list them under /proc. */
export function workersIn(folder: string): number[] {
  if (process.platform !== 'linux') return []
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && worksIn(pid, folder))
}

/** The title of a process and the time that it has used, in one text; empty where the system does not say. */
export function workOf(pid: number): string {
  try {
    const title = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    const [user, system] = statOf(pid)?.slice(11, 13) ?? []
    return `${title} ${pid} ${user} ${system}`
  } catch {
    return ''
  }
}

/** Bytes of memory that a process holds, as its file of /proc says; null where the system does not. */
export function memoryOf(pid: number | undefined): number | null {
  try {
    const [, kibibytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return kibibytes === undefined ? null : Number(kibibytes) * 1024
  } catch {
    return null
  }
}

/** The fields of proc(5) stat from the third (the state) on; the second, the name, may hold blanks and brackets. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}
