// Finds and ends the processes that a check has started: databases, engines, browsers, servers.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** The grace period in ms for processes to exit. */
const grace = 5000

/**
 * The ids of all running descendants of this process, and of the processes with `mark` in their environment. An orphaned
 * process is found only by its mark, and only on systems with /proc.
 */
export function startedProcesses(mark) {
  const all = processes()
  const found = new Set(descendantsOf(process.pid, all))
  for (const { pid } of all) if (pid !== process.pid && environmentOf(pid).includes(mark)) found.add(pid)
  return [...found]
}

/** The ids of the longest running child process whose command matches, and of its running descendants. Empty without /proc. */
export function oldestChild(parent, command) {
  const all = processes()
  const children = all.filter((each) => each.parent === parent && command.test(commandOf(each.pid)))
  const [oldest] = children.toSorted((one, other) => startOf(one.pid) - startOf(other.pid))
  return oldest === undefined ? [] : [oldest.pid, ...descendantsOf(oldest.pid, all)]
}

function descendantsOf(ancestor, all) {
  const found = new Set()
  for (let parents = [ancestor]; parents.length > 0;) {
    const children = all.filter(({ pid, parent }) => parents.includes(parent) && !found.has(pid)).map(({ pid }) => pid)
    for (const pid of children) found.add(pid)
    parents = children
  }
  return [...found]
}

/** Sends SIGTERM, waits for the grace period, then sends SIGKILL to the remaining processes. */
export async function endProcesses(ids) {
  for (const pid of ids) send(pid, 'SIGTERM')
  const end = Date.now() + grace
  while (ids.some(isRunning) && Date.now() < end) await wait(50)
  for (const pid of ids) send(pid, 'SIGKILL')
}

/** The processor time in seconds of all processes that this one started and waited for, and theirs. 0 without /proc. */
export function processorTime() {
  const fields = fieldsOf('self')
  // cutime and cstime of proc(5), in clock ticks of 10 ms.
  return (Number(fields[16 - 3] ?? 0) + Number(fields[17 - 3] ?? 0)) / 100
}

/** The command line of a process, for messages. */
export function commandOf(pid) {
  return read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim() || 'a process'
}

function processes() {
  if (!existsSync('/proc/self/stat')) return listed()
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ pid: Number(name), ...stateOf(name) }))
    .filter(({ state }) => state !== undefined && state !== 'Z')
}

function stateOf(pid) {
  const [state, parent] = fieldsOf(pid)
  return { state: state === '' ? undefined : state, parent: Number(parent) }
}

/** In clock ticks since the machine started. */
const startOf = (pid) => Number(fieldsOf(pid)[22 - 3])

/** The fields of proc(5) from the third on. The second is the program name in parentheses, and may contain parentheses itself. */
function fieldsOf(pid) {
  const stat = read(`/proc/${pid}/stat`)
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function listed() {
  const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' }).trim().split('\n')
  return lines
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state]) => ({ pid: Number(pid), parent: Number(parent), state }))
    .filter(({ state }) => !state.startsWith('Z'))
}

const environmentOf = (pid) => read(`/proc/${pid}/environ`)

/** Empty if the file cannot be read: the process has ended, or belongs to someone else. */
function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

const isRunning = (pid) => processes().some((other) => other.pid === pid)

function send(pid, signal) {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
