import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'

/** The style of printed pages. */
export const printStyle = readFileSync(path.join(import.meta.dirname, 'print-page.css'), 'utf8')

/** The content security policy of these pages: their own style and their empty icon, and nothing else. */
export const printPagePolicy = `default-src 'none'; style-src 'sha256-${createHash('sha256').update(printStyle).digest('base64')}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`
