import path from 'node:path'
import { runCommand } from './commands/run.ts'

// A reader such as `head` closes the pipe early. That is not an error, and resources are still closed.
process.stdout.on('error', (error) => {
  if (process.exitCode !== undefined || ('code' in error && error.code === 'EPIPE')) return
  process.exitCode = 1
  process.stderr.write(`The output could not be written: ${error.message}.\n`)
})

// A command whose errors and progress cannot be written still closes the database and returns its exit status.
process.stderr.on('error', () => undefined)

const status = await runCommand(process.argv.slice(2), {
  environment: process.env,
  root: path.join(import.meta.dirname, '..'),
  stdout: process.stdout,
  stderr: process.stderr,
  stdin: process.stdin,
})
// Write errors surface on the next tick.
await new Promise((resolve) => setImmediate(resolve))
process.exitCode ??= status
