import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import { describeError } from '../../src/platform/log/log-error.ts'

/** A logger like the product's, at level trace. It keeps its lines, so that tests can assert what they do not contain. */
export function createTestLog(): { log: Logger; text: () => string } {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  return { log: pino({ level: 'trace', serializers: { err: describeError } }, stream), text: () => lines.join('') }
}
