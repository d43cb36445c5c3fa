import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'

const root = path.join(import.meta.dirname, '..')
const record = 'web/pages/record/{record,properties,notes,items,entry}.{tsx,module.css}'

/** Of each picture, the source files of what it shows: not of dialogs, other tabs and components that all pages share. */
const sources = {
  overview: ['web/pages/overview/*.{tsx,module.css}'],
  clients: ['web/pages/clients/{clients,client-table,filters}.{tsx,module.css}'],
  record: [record],
  letter: ['web/pages/letter/{letter,workspace,letter-form,letter-actions,sources}.{tsx,module.css}'],
  phone: [record, 'web/components/phone-menu.tsx'],
} as const

export type PictureName = keyof typeof sources

/** By picture, the digest of the source files of its page, without the places of what they import. */
export function digestsOfPages(): Record<string, string> {
  return Object.fromEntries(Object.entries(sources).map(([name, patterns]) => [name, digestOf(patterns)]))
}

function digestOf(patterns: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of patterns.flatMap((pattern) => globSync(pattern, { cwd: root }).toSorted())) {
    const text = readFileSync(path.join(root, file), 'utf8').replaceAll(/ from '[^']*'$/gm, '')
    hash.update(`${path.basename(file)}\n${text}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}
