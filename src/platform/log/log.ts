import { writeSync } from 'node:fs'
import { pino, type Logger } from 'pino'
import { createLog } from './line-log.ts'
import { readableLine } from './readable-line.ts'

/** When buffered lines are written. Writing each line at once would take a tenth of the time of a request. */
const flushAfter = { milliseconds: 200, characters: 16 * 1024 }

/** The maximum number of bytes to buffer while nobody reads stderr. Further lines are dropped. */
const mostBuffered = 1024 * 1024

/** The log of this process. */
export interface OpenLog {
  readonly log: Logger
  /** Writes the buffer, and every later line at once. Lines that nobody reads do not keep the process alive. */
  close(): void
}

/** Writes to stderr. Lines that do not fit into a full pipe are dropped. */
function writeNow(lines: string): void {
  try {
    writeSync(2, lines)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error
  }
}

/**
 * Logs to stderr: readable lines on a terminal, JSON lines otherwise. Buffered lines are also written on
 * `process.exit()`.
 */
export function openLog({ isTerminal = process.stderr.isTTY } = {}): OpenLog {
  let isOpen = true
  let lines = ''
  const stderr = pino.destination({ dest: 2, sync: false, maxLength: mostBuffered, retryEAGAIN: () => isOpen })
  stderr.on('error', () => {
    // On exit, it would otherwise retry forever on a full disk.
    stderr.flushSync = () => undefined
  })
  const flush = (): void => {
    if (lines !== '') stderr.write(lines)
    lines = ''
  }
  const write = (line: string): void => {
    lines += isTerminal ? readableLine(line) : line
    if (!isOpen || lines.length >= flushAfter.characters) flush()
  }
  const timer = setInterval(flush, flushAfter.milliseconds).unref()
  // Synchronous: a pending asynchronous write may never happen.
  process.prependListener('exit', () => {
    if (lines !== '') writeNow(lines)
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
