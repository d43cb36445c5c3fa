import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'

const repository = path.join(import.meta.dirname, '../..')

/** A folder with the given files, and with copies of the named files and folders of this repository. */
export function makeProject(files: Record<string, string>, copied: readonly string[]): string {
  const root = mkdtempSync(path.join(tmpdir(), 'tollgate-project-'))
  for (const name of copied) cpSync(path.join(repository, name), path.join(root, name), { recursive: true })
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    writeFileSync(path.join(root, name), text)
  }
  return root
}

export interface Outcome {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end with only the given environment. */
export async function runProgram(
  file: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Outcome> {
  const child = spawn(file, args, { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = { stdout: '', stderr: '' }
  child.stdout.on('data', (data) => (texts.stdout += String(data)))
  child.stderr.on('data', (data) => (texts.stderr += String(data)))
  await once(child, 'close')
  return { status: child.exitCode, ...texts }
}
