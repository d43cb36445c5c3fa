/**
 * A process that opens the embedded database on the folder it is given: writes the address when it is open or the
 * reason when it is not, and closes and ends when its standard input does.
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
