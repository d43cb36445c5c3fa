import { readFileSync } from 'node:fs'
import path from 'node:path'

/** The version of Tollgate, from package.json. */
export const version = readVersion()

function readVersion(): string {
  const file = path.join(import.meta.dirname, '../../package.json')
  const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
  if (typeof content === 'object' && content !== null && 'version' in content && typeof content.version === 'string') {
    return content.version
  }
  throw new Error(`${file} has no version`)
}
