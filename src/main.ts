import path from 'node:path'
import { runCommand } from './commands/run.ts'

// A reader that has seen enough, such as `head`, closes the pipe: no fault, and what was opened is still closed.
process.stdout.on('error', (error) => {
  if (!('code' in error && error.code === 'EPIPE')) throw error
})

process.exitCode = await runCommand(process.argv.slice(2), {
  environment: process.env,
  root: path.join(import.meta.dirname, '..'),
  stdout: process.stdout,
  stderr: process.stderr,
})
