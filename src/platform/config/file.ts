import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseDocument } from 'yaml'
import type { Reading } from './check.ts'

/** Where the settings come from: the folder that relative paths start at, and the file's content. */
export interface ConfigFile {
  /** Absolute; null when there is no file and every setting has its default. */
  readonly file: string | null
  readonly directory: string
  readonly content: unknown
}

/**
 * Reads the file that `TOLLGATE_CONFIG` names, or `tollgate.yaml` of the project if there is one. What is wrong with it
 * is reported with its line and column; the content is then undefined.
 */
export function readConfigFile(named: string | undefined, root: string, cwd: string, reading: Reading): ConfigFile {
  const usual = path.join(root, 'tollgate.yaml')
  const file = named === undefined ? usual : path.resolve(cwd, named)
  if (named === undefined && !existsSync(usual)) return { file: null, directory: root, content: {} }
  const source = readText(file, reading)
  const content = source === undefined ? undefined : parseYaml(source, path.basename(file), reading)
  return { file, directory: path.dirname(file), content }
}

function readText(file: string, { fault }: Reading): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const reasons = new Map<unknown, string>([
      ['ENOENT', 'there is no such file'],
      ['EACCES', 'this user may not read it'],
      ['EISDIR', 'is a folder, not a file'],
      ['ERR_ENCODING_INVALID_ENCODED_DATA', 'is not text in UTF-8'],
    ])
    return fault(file, reasons.get(code) ?? `cannot be read (${String(code)})`)
  }
}

/**
 * After ten faults of form the rest follow from those. What a deeply nested or endlessly repeating document makes the
 * parser throw is a fault like them.
 */
function parseYaml(source: string, name: string, { fault }: Reading): unknown {
  try {
    const document = parseDocument(source, { stringKeys: true, resolveKnownTags: false, logLevel: 'error' })
    const problems = [...document.errors, ...document.warnings]
    for (const { linePos, message } of problems.slice(0, 10)) {
      const { line, col } = linePos?.[0] ?? { line: 1, col: 1 }
      fault(`${name}:${line}:${col}`, message.split(/;|:? at line \d|\n/)[0] ?? 'is not valid YAML')
    }
    if (problems.length > 0) return undefined
    const content: unknown = document.toJS()
    return content ?? {}
  } catch (error) {
    return fault(name, `cannot be read as YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
}
