import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { makeProject, runProgram } from './support/project.ts'

const roots: string[] = []
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true })
})

/** A project with its own pages and this project's tools. */
function project(): string {
  const files = {
    'package.json': JSON.stringify({ name: 'small', type: 'module' }),
    'package-lock.json': '{}',
    'web/index.html': '<!doctype html><title>Small</title><script type="module" src="/main.ts"></script>',
    'web/main.ts': `document.title = 'first'\n`,
    'setup.js':
      `import { arePagesBuilt, buildPages } from './scripts/pages.js'\n` +
      `const root = import.meta.dirname\n` +
      `console.log(arePagesBuilt(root) ? 'nothing to do' : (buildPages(root) ?? 'built'))\n`,
  }
  const root = makeProject(files, ['scripts/pages.js', 'scripts/runtime.js'])
  symlinkSync(path.join(import.meta.dirname, '../node_modules'), path.join(root, 'node_modules'))
  roots.push(root)
  return root
}

async function setUp(root: string): Promise<string> {
  const { stdout, stderr } = await runProgram(process.execPath, [path.join(root, 'setup.js')], {})
  return stdout.trim() + stderr
}

describe('the pages', () => {
  test('are built once, and again when a source or a dependency has changed', async () => {
    const root = project()
    assert.equal(await setUp(root), 'built')
    assert.match(readFileSync(path.join(root, 'web/dist/index.html'), 'utf8'), /src="\/assets\/index-[\w-]+\.js"/)
    assert.equal(await setUp(root), 'nothing to do')
    writeFileSync(path.join(root, 'web/main.ts'), `document.title = 'second'\n`)
    assert.equal(await setUp(root), 'built')
    writeFileSync(path.join(root, 'package-lock.json'), '{ }')
    assert.equal(await setUp(root), 'built')
    assert.equal(await setUp(root), 'nothing to do')
  })

  test('stay unchanged if they cannot be built, and the reason is shown', async () => {
    const root = project()
    await setUp(root)
    writeFileSync(path.join(root, 'web/main.ts'), `import './gone.ts'\n`)
    assert.match(await setUp(root), /gone\.ts/)
    assert.ok(existsSync(path.join(root, 'web/dist/index.html')))
    assert.match(await setUp(root), /gone\.ts/, 'a failure is not forgotten')
  })

  test('are left unchanged if only their build was shipped', async () => {
    const root = project()
    await setUp(root)
    for (const source of ['index.html', 'main.ts']) rmSync(path.join(root, 'web', source))
    assert.equal(await setUp(root), 'nothing to do')
  })
})
