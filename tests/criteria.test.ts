import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { criteriaIn } from '../scripts/suite/criteria.js'
import { allMatches, missingFrom } from './support/pages.ts'

const root = path.join(import.meta.dirname, '..')
const page = readFileSync(path.join(root, 'docs/criteria.md'), 'utf8')
const tests = globSync('{src,tests,web,models,bench}/**/*.test.ts', {
  cwd: root,
  exclude: (name) => name === 'node_modules',
})
  .filter((file) => !file.endsWith('criteria.test.ts'))
  .map((file) => readFileSync(path.join(root, file), 'utf8'))
  .join('\n')

describe('acceptance criteria', () => {
  test('are numbered without gaps', () => {
    for (const area of ['A', 'B']) {
      const ids = criteriaOf(page).filter((id) => id.startsWith(area))
      assert.deepEqual(
        ids,
        ids.map((_, index) => `${area}${index + 1}`),
      )
      assert.ok(ids.length >= 40, area)
    }
  })

  test('are not listed as not tested if a test names them', () => {
    assert.deepEqual(
      untested(page).filter((id) => namedBy(tests).includes(id)),
      [],
    )
  })

  test('a test names no criterion that does not exist', () => {
    assert.deepEqual(missingFrom(namedBy(tests), criteriaOf(page)), [])
  })
})

function criteriaOf(text: string): string[] {
  return allMatches(text, /^- \*\*([AB]\d+)\.\*\* \S/gm)
}

function untested(text: string): string[] {
  const [, list = ''] = text.split('\n## Not tested\n')
  return allMatches(list, /^\| ([AB]\d+) +\| \S/gm)
}

/** The criteria in the titles of tests, once each. */
function namedBy(source: string): string[] {
  const titles = allMatches(source, /\b(?:test|describe|it|suite)\(\s*(?:async )?(['"`](?:\\.|[^\\])*?['"`]),/g)
  return criteriaIn(titles)
}
