import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A process of ours, which is gone when `stop` returns. */
export interface Process {
  readonly pid: number
  /** Waits until an address answers 200. Throws after `within` milliseconds, or when the process has ended. */
  ready(url: string, within: number): Promise<void>
  /** Asks it to end (SIGTERM), and after ten seconds insists. */
  stop(): Promise<void>
}

export interface Start {
  readonly command: string
  readonly args: readonly string[]
  readonly environment?: NodeJS.ProcessEnv
  /** A file: what the process prints is not read by anyone who is being measured. */
  readonly output: string
}

/** Starts a command in a group of its own, so that what it starts ends with it. */
export function startProcess({ command, args, environment, output }: Start): Process {
  const file = openSync(output, 'w')
  const child = spawn(command, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', file, file],
    detached: true,
  })
  closeSync(file)
  const { pid } = child
  if (pid === undefined) throw new Error(`${command} does not start.`)
  const ended = once(child, 'exit')
  const kill = (): void => signalGroup(pid, 'SIGKILL')
  process.once('exit', kill)
  return Object.freeze({
    pid,
    async ready(url: string, within: number) {
      const end = performance.now() + within
      while (!(await answers(url))) {
        if (performance.now() > end) throw new Error(`${url} is not ready within ${within} ms. See ${output}.`)
        if (child.exitCode !== null) throw new Error(`${command} ended with status ${child.exitCode}. See ${output}.`)
        await wait(20)
      }
    },
    async stop() {
      signalGroup(pid, 'SIGTERM')
      const insist = setTimeout(kill, 10_000)
      await ended
      clearTimeout(insist)
      process.off('exit', kill)
    },
  })
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.status === 200,
    () => false,
  )

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended already.
  }
}

/** A port of 127.0.0.1 that nobody has now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}

/** Memory that a process has in use, and the most it ever had, in MB; undefined where the system does not say. */
export function memoryOf(pid: number): { now: number; most: number } | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const megabytes = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
    return { now: megabytes('VmRSS'), most: megabytes('VmHWM') }
  } catch {
    return undefined
  }
}
