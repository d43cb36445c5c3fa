import { writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'
import { describeError } from './log-error.ts'
import { readableLine } from './readable-line.ts'

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

interface LineSink {
  write(line: string): void
}

/** Where each log that `createLog` returned writes to. */
const sinks = new WeakMap<Logger, LineSink>()

/**
 * Writes the line that `log.info(fields, message)` writes, for a log without bindings. The line of every request goes
 * this way: pino takes twice as long for it (docs/decisions/0010-code-of-our-own.md).
 */
export function writeLine(
  log: Logger,
  fields: Readonly<Record<string, string | number | undefined>>,
  message: string,
): void {
  if (!log.isLevelEnabled('info')) return
  const sink = sinks.get(log)
  if (sink === undefined) return log.info(fields, message)
  const line = JSON.stringify({ level: pino.levels.values['info'], time: Date.now(), ...fields, msg: message })
  sink.write(`${line}\n`)
}

/** A log that writes JSON lines to a sink, at once. */
export function createLog(sink: LineSink): Logger {
  const log: Logger = pino({ base: null, serializers: { err: describeError } }, sink)
  sinks.set(log, sink)
  return log
}

/** To stderr. What does not fit where nobody reads is dropped. */
function writeAtOnce(lines: string): void {
  try {
    writeSync(2, lines)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
  }
}

/**
 * Logs to stderr: readable lines on a terminal, JSON lines otherwise. Gathered lines are written even if the process is
 * made to exit.
 */
export function openLog({ isTerminal = process.stderr.isTTY } = {}): OpenLog {
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
    lines += isTerminal ? readableLine(line) : line
    if (!isOpen || lines.length >= gathered.characters) flush()
  }
  const timer = setInterval(flush, gathered.milliseconds).unref()
  // At once: a write that another thread has only been asked for may not happen any more.
  process.prependListener('exit', () => {
    if (lines !== '') writeAtOnce(lines)
    lines = ''
  })
  return {
    log: createLog({ write }),
    close() {
      isOpen = false
      clearInterval(timer)
      flush()
    },
  }
}
