import { writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'
import { describeError } from './log-error.ts'

/** How long lines are gathered: milliseconds, and characters. A write for each would be a tenth of what a request costs. */
const gathered = { milliseconds: 200, characters: 16 * 1024 }

/** Bytes that wait for whoever reads stderr; lines past that are dropped rather than kept without end. */
const mostWaiting = 1024 * 1024

/** The log of this process. */
export interface OpenLog {
  readonly log: Logger
  /** Writes what is gathered, and from then on every line at once; unread lines do not keep the process from ending. */
  close(): void
}

/**
 * The line that `log.info(fields, message)` writes, of a log without bindings. For the one line of every request: pino
 * looks at each character of what is only ids and numbers, and takes twice as long.
 */
export function writeLine(
  log: Logger,
  fields: Readonly<Record<string, string | number | undefined>>,
  message: string,
): void {
  if (!log.isLevelEnabled('info')) return
  const line = JSON.stringify({ level: pino.levels.values['info'], time: Date.now(), ...fields, msg: message })
  const stream: unknown = Reflect.get(log, pino.symbols.streamSym)
  if (isWritable(stream)) stream.write(`${line}\n`)
  else log.info(fields, message)
}

function isWritable(stream: unknown): stream is { write(line: string): void } {
  return typeof stream === 'object' && stream !== null && 'write' in stream && typeof stream.write === 'function'
}

/** To stderr. What does not fit where nobody reads is dropped. */
function writeAtOnce(lines: string): void {
  try {
    writeSync(2, lines)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
  }
}

/** Lines for machines on stderr; stdout is for people. What is gathered is written also when the process is made to exit. */
export function openLog(): OpenLog {
  let isOpen = true
  let lines = ''
  const stderr = pino.destination({ dest: 2, sync: false, maxLength: mostWaiting, retryEAGAIN: () => isOpen })
  stderr.on('error', () => {
    // At the exit it would try again without end to write what a full disk does not take.
    stderr.flushSync = () => undefined
  })
  const flush = (): void => {
    if (lines !== '') stderr.write(lines)
    lines = ''
  }
  const write = (line: string): void => {
    lines += line
    if (!isOpen || lines.length >= gathered.characters) flush()
  }
  const timer = setInterval(flush, gathered.milliseconds).unref()
  // At once: a write that another thread has only been asked for may not happen any more.
  process.prependListener('exit', () => {
    if (lines !== '') writeAtOnce(lines)
    lines = ''
  })
  return {
    log: pino({ base: null, serializers: { err: describeError } }, { write }),
    close() {
      isOpen = false
      clearInterval(timer)
      flush()
    },
  }
}
