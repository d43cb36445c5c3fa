import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import path from 'node:path'
import { compiled } from './compiled.ts'

/** A server started as `npm start` does. */
export interface Started {
  /** The greeting and the log so far. */
  readonly stdout: string
  readonly stderr: string
  /** Sends the signal. */
  signal(signal: NodeJS.Signals): void
  /** Sends the signal and waits for the end. Returns the exit status. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

/** The program that `./tollgate` runs. */
export const main = path.join(import.meta.dirname, '../../src/main.ts')

/** Starts the service in a child process with only these environment variables, and waits for its greeting. */
export async function start(
  environment: Readonly<Record<string, string>>,
  { json = false, flags = [] }: { json?: boolean; flags?: readonly string[] } = {},
): Promise<Started> {
  const args = [main, 'start', ...(json ? ['--json'] : []), ...flags]
  const child = spawn(process.execPath, args, {
    env: { ...compiled, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const last = json ? '}\n' : 'Try it:'
  const said = { stdout: '', stderr: '' }
  const greeted = Promise.withResolvers<void>()
  child.stdout.on('data', (data) => {
    said.stdout += String(data)
    if (said.stdout.includes(last)) greeted.resolve()
  })
  child.stderr.on('data', (data) => (said.stderr += String(data)))
  const ended = once(child, 'close')
  await Promise.race([greeted.promise, ended])
  assert.ok(said.stdout.includes(last), `it ended with ${child.exitCode}: ${said.stderr}`)
  return {
    get stdout() {
      return said.stdout
    },
    get stderr() {
      return said.stderr
    },
    signal: (signal) => void child.kill(signal),
    async end(signal = 'SIGTERM') {
      child.kill(signal)
      await ended
      return child.exitCode
    },
  }
}

/**
 * Finds three successive free ports of 127.0.0.1, which is what the demo takes, and returns the first. They are below the
 * ephemeral range, from which connections of other tests are taken.
 */
export async function freePorts(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    const ports = [port, port + 1, port + 2]
    if ((await reserve(ports)) && (await Promise.all(ports.map(isFree))).every(Boolean)) return port
  }
}

/**
 * Binds UDP sockets to the ports until this process ends, so that no other test file finds them before a server listens there,
 * which takes seconds.
 */
async function reserve(ports: readonly number[]): Promise<boolean> {
  const sockets = ports.map(() => createSocket('udp4').unref())
  const bound = await Promise.allSettled(
    sockets.map((socket, index) => once(socket.bind(ports[index], '127.0.0.1'), 'listening')),
  )
  const isDone = bound.every(({ status }) => status === 'fulfilled')
  if (!isDone) for (const socket of sockets) socket.close()
  return isDone
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer()
  try {
    await once(probe.listen(port, '127.0.0.1'), 'listening')
  } catch {
    return false
  }
  probe.close()
  await once(probe, 'close')
  return true
}
