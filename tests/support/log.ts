import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'
import { describeError } from '../../src/platform/log-error.ts'

/** A logger like the product's, at the finest level. It keeps its lines, to look for what must not be in them. */
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
