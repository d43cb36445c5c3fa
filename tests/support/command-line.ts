import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import path from 'node:path'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCommand } from '../../src/commands/run.ts'
import { compiled } from './compiled.ts'

export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

type Environment = Readonly<Record<string, string>>

const root = path.join(import.meta.dirname, '../..')
const main = path.join(root, 'src/main.ts')

/** Runs `./tollgate …` in a child process with only these environment variables. */
export async function tollgate(args: readonly string[], environment: Environment): Promise<Outcome> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...compiled, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [status, stdout, stderr] = await Promise.all([endOf(child), text(child.stdout), text(child.stderr)])
  return { status, stdout, stderr }
}

/** The same, but stdout is closed after its first bytes, as `head` does. */
export async function tollgateCutOff(args: readonly string[], environment: Environment): Promise<Outcome> {
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...compiled, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.once('data', () => child.stdout.destroy())
  const [status, stderr] = await Promise.all([endOf(child), text(child.stderr)])
  return { status, stdout: '', stderr }
}

/** The same, with stdout redirected to a file, which is not read. */
export async function tollgateInto(file: string, args: readonly string[], environment: Environment): Promise<Outcome> {
  const out = openSync(file, 'w')
  const child = spawn(process.execPath, [main, ...args], {
    env: { ...compiled, ...environment },
    stdio: ['ignore', out, 'pipe'],
  })
  assert.ok(child.stderr)
  const [status, stderr] = await Promise.all([endOf(child), text(child.stderr)])
  closeSync(out)
  return { status, stdout: '', stderr }
}

/** The exit status of a command line with stderr written into a file. */
export async function statusUnread(
  file: string,
  args: readonly string[],
  environment: Environment,
): Promise<number | null> {
  const err = openSync(file, 'w')
  const status = await endOf(
    spawn(process.execPath, [main, ...args], {
      env: { ...compiled, ...environment },
      stdio: ['ignore', 'ignore', err],
    }),
  )
  closeSync(err)
  return status
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => child.on('close', resolve).on('error', reject))
}

/** Runs the same command line in this process. It leaves out only `main.ts` and is ten times as fast. */
export async function tollgateHere(args: readonly string[], environment: Environment): Promise<Outcome> {
  const [stdout, stderr] = [collector(), collector()]
  const status = await runCommand(args, { environment, root, stdout: stdout.stream, stderr: stderr.stream })
  return { status, stdout: stdout.text(), stderr: stderr.text() }
}

function collector(): { stream: Writable; text: () => string } {
  const parts: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      parts.push(String(chunk))
      done()
    },
  })
  return { stream, text: () => parts.join('') }
}
