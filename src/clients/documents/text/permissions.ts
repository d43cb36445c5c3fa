import path from 'node:path'

const root = path.join(import.meta.dirname, '../../../..')

/**
 * The options with which Node lets a process read this program and its libraries, and nothing else: neither the data folder with the
 * encryption key nor the configuration. It has neither network nor children, and no files to write.
 */
export const permissions: readonly string[] = [
  '--permission',
  '--allow-worker',
  ...['src', 'node_modules', 'package.json'].map((name) => `--allow-fs-read=${path.join(root, name)}`),
]
