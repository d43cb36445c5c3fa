import { Worker } from 'node:worker_threads'
import { textLimits } from '../limits.ts'
import { readers, type TextPage } from './readers.ts'

/**
 * Reads the text of one file and writes its pages as lines of JSON. The bytes are the standard input; the arguments are the media type, the
 * limits and the id of the parent. Whatever the file does, only this process ends: the watchdog ends it when it takes too much memory or
 * time, and when its parent has ended. It may read this program's files, and has neither network nor children.
 */
// Terminals and service managers signal every process of the group. The service decides when its reader ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)

const [, , type = '', ...watched] = process.argv
new Worker(new URL('watchdog.ts', import.meta.url), { argv: watched }).unref()

const chunks: Buffer[] = []
for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk)

let [pages, rest] = [0, textLimits.characters]
try {
  for await (const { label, text } of readers[type]?.(Buffer.concat(chunks)) ?? []) {
    // PostgreSQL stores no NUL, and no half of a surrogate pair.
    const shown = text.slice(0, rest).replaceAll('\0', '').toWellFormed()
    process.stdout.write(lineOf({ label: label.slice(0, 200).replaceAll('\0', '').toWellFormed(), text: shown }))
    rest -= shown.length
    pages += 1
    if (pages === textLimits.pages || rest <= 0) break
  }
} catch (error) {
  // The installation is incomplete, not the file: with exit status 1, it is tried again.
  if (error instanceof Error && 'code' in error && /^ERR_(?:MODULE_NOT_FOUND|ACCESS_DENIED)$/.test(String(error.code)))
    throw error
  const isLocked =
    error instanceof Error && (error.name === 'PasswordException' || /encrypted|password/i.test(error.message))
  process.exitCode = isLocked ? 3 : 2
}

/** A page as one line, also for readers to whom U+2028 and U+2029 end a line, as they do in JavaScript. */
function lineOf(page: TextPage): string {
  return `${JSON.stringify(page).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`
}
