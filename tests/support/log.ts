import { Writable } from 'node:stream'
import { pino, type Logger } from 'pino'

/** A logger at the finest level that keeps what it wrote, to look for what must not be in it. */
export function createTestLog(): { log: Logger; text: () => string } {
  const lines: string[] = []
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  return { log: pino({ level: 'trace' }, stream), text: () => lines.join('') }
}
