import { Worker } from 'node:worker_threads'
import { readers } from './readers.ts'
import { textLimits } from './limits.ts'

/**
 * Reads the text of one file, whose bytes are the standard input and whose type is the first argument, and writes its pages as lines of JSON.
 * Whatever the file does to it, only this process ends: the watchdog ends it when it takes too much memory, and its parent when it takes too
 * long. It may read this program's files, and has neither network nor children.
 */
const [, , type = '', mostMemory = ''] = process.argv
new Worker(new URL('watchdog.ts', import.meta.url), { workerData: Number(mostMemory) }).unref()

const chunks: Buffer[] = []
for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk)

let [pages, rest] = [0, textLimits.characters]
try {
  for await (const { label, text } of readers[type]?.(Buffer.concat(chunks)) ?? []) {
    // PostgreSQL stores no NUL, and no half of a surrogate pair.
    const shown = text.slice(0, rest).replaceAll('\0', '').toWellFormed()
    process.stdout.write(
      `${JSON.stringify({ label: label.slice(0, 200).replaceAll('\0', '').toWellFormed(), text: shown })}\n`,
    )
    rest -= shown.length
    pages += 1
    if (pages === textLimits.pages || rest <= 0) break
  }
} catch (error) {
  const isLocked =
    error instanceof Error && (error.name === 'PasswordException' || /encrypted|password/i.test(error.message))
  process.exitCode = isLocked ? 3 : 2
}
