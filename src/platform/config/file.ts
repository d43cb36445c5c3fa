import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseDocument } from 'yaml'
import type { ReadContext } from './check.ts'

export interface ConfigFile {
  /** Absolute; null if there is no file. */
  readonly file: string | null
  /** The base of relative paths in the file. */
  readonly directory: string
  readonly content: unknown
}

/**
 * Reads the file in `TOLLGATE_CONFIG`, or the project's `tollgate.yaml` if it exists. Syntax errors are reported with line
 * and column; the content is then undefined.
 */
export function readConfigFile(named: string | undefined, root: string, cwd: string, context: ReadContext): ConfigFile {
  const usual = path.join(root, 'tollgate.yaml')
  const file = named === undefined ? usual : path.resolve(cwd, named)
  if (named === undefined && !existsSync(usual)) return { file: null, directory: root, content: {} }
  const source = readText(file, context)
  const content = source === undefined ? undefined : parseYaml(source, path.basename(file), context)
  return { file, directory: path.dirname(file), content }
}

function readText(file: string, { report }: ReadContext): string | undefined {
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
    return report(file, reasons.get(code) ?? `cannot be read (${String(code)})`)
  }
}

/**
 * Reports at most ten syntax errors, because the rest usually follow from them. The parser throws on documents that are
 * nested too deeply or expand too many aliases.
 */
export function parseYaml(source: string, name: string, { report }: Pick<ReadContext, 'report'>): unknown {
  try {
    const document = parseDocument(source, { stringKeys: true, resolveKnownTags: false, logLevel: 'error' })
    const problems = [...document.errors, ...document.warnings]
    for (const { linePos, message } of problems.slice(0, 10)) {
      const { line, col } = linePos?.[0] ?? { line: 1, col: 1 }
      report(`${name}:${line}:${col}`, message.split(/;|:? at line \d|\n/)[0] ?? 'is not valid YAML')
    }
    if (problems.length > 0) return undefined
    const content: unknown = document.toJS()
    return content ?? {}
  } catch (error) {
    return report(name, `cannot be read as YAML: ${error instanceof Error ? error.message : String(error)}`)
  }
}
