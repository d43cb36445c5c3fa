import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, test } from 'node:test'
import { readAssets } from '../src/platform/http/pages/assets.ts'
import { at } from './support/json.ts'
import { sharedFiles } from '../scripts/shared-files.js'
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
    ...Object.fromEntries(sharedFiles.map((file) => [file, ''])),
    'setup.js':
      `import { arePagesBuilt, buildPages } from './scripts/pages.js'\n` +
      `const root = import.meta.dirname\n` +
      `console.log(arePagesBuilt(root) ? 'nothing to do' : (buildPages(root) ?? 'built'))\n`,
  }
  const root = makeProject(files, ['scripts/pages.js', 'scripts/runtime.js', 'scripts/shared-files.js'])
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
    writeFileSync(path.join(root, sharedFiles.at(-1) ?? assert.fail()), 'export {}')
    assert.equal(await setUp(root), 'built', 'a file that pages and server share')
    assert.equal(await setUp(root), 'nothing to do')
  })

  test('include the sign-in page, as a build of its own', async () => {
    const root = project()
    mkdirSync(path.join(root, 'web/sign-in'))
    const html = readFileSync(path.join(root, 'web/index.html'), 'utf8')
    writeFileSync(path.join(root, 'web/sign-in/index.html'), html)
    writeFileSync(path.join(root, 'web/sign-in/main.ts'), `document.title = 'small'\n`)
    assert.equal(await setUp(root), 'built')
    const scriptOf = (folder: string) => {
      const dist = path.join(root, 'web/dist', folder)
      const [, script] = /src="(\/assets\/[^"]+)"/.exec(readFileSync(path.join(dist, 'index.html'), 'utf8')) ?? []
      return readFileSync(path.join(dist, script ?? ''), 'utf8')
    }
    assert.match(scriptOf('.'), /first/)
    assert.match(scriptOf('sign-in'), /small/)
    assert.equal(await setUp(root), 'nothing to do')
    writeFileSync(path.join(root, 'web/sign-in/main.ts'), `import './gone.ts'\n`)
    assert.match(await setUp(root), /gone\.ts/)
    assert.match(scriptOf('sign-in'), /small/, 'neither build is replaced')
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

test('the first picture of a page escapes every text, needs a signed-in person, and keeps nothing of the page before', async () => {
  const file = path.join(import.meta.dirname, '../web/dist/first/first.js')
  const program = at(await import(file), 'firstPicture')
  assert.ok(typeof program === 'function')
  const firstPicture = (content: object) => String(Reflect.apply(program, undefined, [content]))
  const hostile = `<script>alert(1)</script>" onfocus="x' __CONTENT__`
  const person = { id: '1', name: hostile }
  const time = '2026-03-12T10:00:00Z'
  const texts = { id: '1', name: hostile, reference: hostile, email: hostile, address: hostile, text: hostile }
  const common = {
    ...texts,
    status: 'active',
    consultant: person,
    created_at: time,
    updated_at: time,
    changed_at: time,
    version: 1,
  }
  const note = { ...common, date: '2026-03-12', participants: [hostile], created_by: person, updated_by: person }
  const billing = {
    vat_number: hostile,
    billing_street: hostile,
    billing_extra: null,
    billing_postcode: null,
    billing_city: hostile,
    billing_country: null,
    buyer_reference: hostile,
    order_number: null,
    billing_language: null,
    days_to_pay: 30,
  }
  const record = { ...common, ...billing, notes: [note], disputes: [], letters: [] }
  const letter = { ...common, subject: hostile, body: `${hostile}\n\n[here](javascript:alert)` }
  const list = {
    clients: [{ ...common, open_disputes: 1 }],
    next: null,
    total: 1,
    total_is_exact: true,
    similar: false,
  }
  const viewer = { person: { ...person, email: null, role: 'partner' }, idle_ends_in: 1000, ends_in: 1000 }
  for (const [address, data] of [
    ['/clients', list],
    ['/clients/1', record],
    ['/clients/1/letters/2', letter],
    ['/clients/1/letters/2', { ...letter, status: 'draft' }],
  ] as const) {
    const html = firstPicture({ address, status: 200, data, viewer })
    assert.ok(html.includes('&lt;script&gt;alert(1)&lt;/script&gt;'), address)
    assert.doesNotMatch(html, /<script|href="javascript/i, address)
    assert.doesNotMatch(html.replaceAll(/="[^"]*"/g, ''), /<[^>]* (?:on\w+|style)\b/i, address)
    assert.equal(firstPicture({ address, status: 200, data }), '', 'for nobody')
    const refused = firstPicture({ address, status: 403, error: { code: 'forbidden', reason: hostile }, viewer })
    assert.doesNotMatch(refused.replace(/<aside.*<\/aside>/s, ''), /alert/, address)
  }
  assert.throws(() => firstPicture({ address: '/clients', status: 200, data: null, viewer }))
})

test('the sign-in page has at most 60 kB of scripts and styles, compressed, and nothing of the portal', () => {
  const dist = path.join(import.meta.dirname, '../web/dist')
  const small = readAssets(path.join(dist, 'sign-in/assets'))
  const bytes = [...small.values()].reduce((sum, { bodies }) => sum + (bodies.get('br')?.length ?? Infinity), 0)
  assert.ok(bytes > 5_000 && bytes <= 60_000, `${bytes} bytes`)
  const html = readFileSync(path.join(dist, 'sign-in/index.html'), 'utf8')
  for (const [, name] of html.matchAll(/"\/assets\/([^"]+)"/g))
    assert.ok(name !== undefined && small.has(name), String(name))
  const scripts = [...small].filter(([name]) => name.endsWith('.js'))
  for (const [name, { bodies }] of scripts) {
    assert.doesNotMatch(String(bodies.get('identity')), /MantineProvider|react-dom|__reactRouter/i, name)
  }
})
