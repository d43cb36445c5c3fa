import { spawn } from 'node:child_process'
import path from 'node:path'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCommand } from '../../src/commands/run.ts'

export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

type Environment = Readonly<Record<string, string>>

const root = path.join(import.meta.dirname, '../..')

/** Carries out `./tollgate …` in a process of its own, which sees these environment variables only. */
export async function tollgate(args: readonly string[], environment: Environment): Promise<Outcome> {
  const main = path.join(root, 'src/main.ts')
  const child = spawn(process.execPath, [main, ...args], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject))
  const [status, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)])
  return { status, stdout, stderr }
}

/** Carries out the same command line in this process: all but `main.ts`, ten times as fast. */
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
