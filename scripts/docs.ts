import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { renderApi } from './docs/api.ts'
import { renderConfiguration } from './docs/configuration.ts'
import { renderErrors } from './docs/errors.ts'
import { readOpenApi } from './docs/openapi.ts'

/** The generated pages: their path and content. */
export function renderPages(openApi: unknown): Map<string, string> {
  return new Map([
    ['docs/configuration.md', renderConfiguration()],
    ['docs/errors.md', renderErrors()],
    ['docs/api.md', renderApi(openApi)],
  ])
}

if (import.meta.main) {
  const root = path.join(import.meta.dirname, '..')
  for (const [page, content] of renderPages(await readOpenApi())) {
    const file = path.join(root, page)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, content)
    console.log(`wrote ${page}`)
  }
}
