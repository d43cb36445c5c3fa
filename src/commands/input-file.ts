import { readFile } from 'node:fs/promises'
import type { LineFault } from '../platform/text/csv-records.ts'
import { OperatorError } from '../platform/problems.ts'
import { quoted } from '../platform/text/one-line.ts'

/** The bytes of a file that a command was given. Rejects with OperatorError if it cannot be read. */
export async function readInputFile(file: string): Promise<Uint8Array> {
  try {
    return await readFile(file)
  } catch (error) {
    throw unreadable(file, error)
  }
}

/** An OperatorError that says why the file could not be read. */
export function unreadable(file: string, error: unknown): OperatorError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
  return new OperatorError(`The file ${quoted(file)} cannot be read (${code}).`, { cause: error })
}

const mostShown = 20

/** What was not done, and the lines at fault, of which a terminal shows the first. */
export function faultText(refusal: string, faults: readonly LineFault[]): string {
  const more = faults.length > mostShown ? [`and ${faults.length - mostShown} more lines`] : []
  const shown = faults.slice(0, mostShown).map(({ line, reason }) => `line ${line}: ${reason}`)
  return [refusal, ...shown, ...more].join('\n')
}
