import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'

/** A child process that serves HTTP. */
export interface ServerProcess {
  readonly pid: number
  /** Waits until a URL answers 200. Throws after `timeout` ms, or when the process has ended. */
  ready(url: string, timeout: number): Promise<void>
  /** Sends SIGTERM, and SIGKILL after ten seconds. Resolves when the process has ended. */
  stop(): Promise<void>
}

export interface StartOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly environment?: NodeJS.ProcessEnv
  /** A file for stdout and stderr, so that reading the output costs no process any time. */
  readonly output: string
}

/** Starts a command in its own process group, so that its children end with it. */
export function startProcess({ command, args, environment, output }: StartOptions): ServerProcess {
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
    async ready(url: string, timeout: number) {
      const end = performance.now() + timeout
      while (!(await isReady(url))) {
        if (performance.now() > end) throw new Error(`${url} is not ready after ${timeout} ms. See ${output}.`)
        if (child.exitCode !== null) throw new Error(`${command} ended with status ${child.exitCode}. See ${output}.`)
        await wait(20)
      }
    },
    async stop() {
      signalGroup(pid, 'SIGTERM')
      const timer = setTimeout(kill, 10_000)
      await ended
      clearTimeout(timer)
      process.off('exit', kill)
    },
  })
}

const isReady = (url: string): Promise<boolean> =>
  fetch(url).then(
    (response) => response.status === 200,
    () => false,
  )

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has ended already.
  }
}

/** A TCP port of 127.0.0.1 that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' ? (address?.port ?? 0) : 0
}
