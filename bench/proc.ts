import { readdirSync, readFileSync } from 'node:fs'

// What Linux reports about a process under /proc (proc(5)). Other systems have no /proc; every function returns undefined there.

/** Clock ticks per second in /proc/<pid>/stat: USER_HZ, which is 100 on every platform Tollgate supports. */
const ticksPerSecond = 100

/** The resident memory of a process now and at its peak, in MB. */
export function memoryOf(pid: number): { now: number; peak: number } | undefined {
  const status = read(`/proc/${pid}/status`)
  if (status === undefined) return undefined
  const megabytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
  return { now: megabytes('VmRSS'), peak: megabytes('VmHWM') }
}

/**
 * Processor time in seconds, user and system, of a process and its descendants, including descendants that have ended.
 * Leaves out the process `except` with its descendants.
 */
export function processorTimeOf(pid: number, except?: number): number | undefined {
  const processes = readProcesses()
  if (!processes?.has(pid)) return undefined
  let ticks = 0
  const pending = [pid]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next === except) continue
    ticks += processes.get(next)?.ticks ?? 0
    for (const [id, { parent }] of processes) if (parent === next) pending.push(id)
  }
  return ticks / ticksPerSecond
}

interface ProcessStat {
  readonly parent: number
  /** Its own, and those of its children that have ended. */
  readonly ticks: number
}

function readProcesses(): Map<number, ProcessStat> | undefined {
  if (process.platform !== 'linux') return undefined
  const processes = new Map<number, ProcessStat>()
  for (const name of readdirSync('/proc')) {
    const text = /^\d+$/.test(name) ? read(`/proc/${name}/stat`) : undefined
    if (text !== undefined) processes.set(Number(name), parseStat(text))
  }
  return processes
}

/** The second field, the name in parentheses, can contain spaces and parentheses. */
function parseStat(text: string): ProcessStat {
  const [, parent, ...fields] = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  // utime, stime, cutime and cstime are the fields 14 to 17.
  const ticks = fields.slice(9, 13).reduce((sum, field) => sum + field, 0)
  return { parent: parent ?? 0, ticks }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
