/**
 * Opens the embedded database in the given folder and writes its address, or the reason why it cannot be opened. Closes it
 * and exits at the end of standard input.
 */
import { once } from 'node:events'
import { pino } from 'pino'
import { openEmbedded } from '../../src/platform/embedded-postgres/embedded-postgres.ts'
import { OperatorError } from '../../src/platform/problems.ts'

const [directory = ''] = process.argv.slice(2)
try {
  const embedded = await openEmbedded({ directory, log: pino({ level: 'silent' }) })
  process.stdout.write(`${embedded.url}\n`)
  process.stdin.resume()
  await once(process.stdin, 'end')
  await embedded.close()
} catch (error) {
  if (!(error instanceof OperatorError)) throw error
  process.stdout.write(`${error.message}\n`)
  process.exitCode = 1
}
