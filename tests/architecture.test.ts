import assert from 'node:assert/strict'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { sharedFiles } from '../scripts/shared-files.js'
import {
  ambiguousNames,
  cycles,
  importsOf,
  measurements,
  namelessTypes,
  otherDraws,
  runtimeImportsOf,
  violations,
  type Architecture,
  type SourceTree,
} from './support/architecture.ts'

/** The structure that ARCHITECTURE.md describes. A new entry point is a decision, and is made here. */
const entryPoints = {
  generation: ['calls/caller.ts', 'calls/formats.ts', 'calls/queued-calls.ts', 'generation.ts', 'routes.ts'],
  models: [
    'call-ids.ts',
    'model.ts',
    'capabilities.ts',
    'catalogue.ts',
    'conversation.ts',
    'counted.ts',
    'routes.ts',
    'rules-schema.ts',
    'vendor-fields.ts',
    'local/gguf.ts',
    'local/check.ts',
    'pull/pull.ts',
    'reported/ask.ts',
    'reported/entry.ts',
    'reported/reported-model.ts',
    'upstream/ai-sdk/provider.ts',
  ],
  billing: [
    'appended-charges.ts',
    'till/till.ts',
    'key-standing.ts',
    'payer.ts',
    'currency/currency.ts',
    'prices/price-rule.ts',
    'prices/prices.ts',
    'prices/read-rules.ts',
    'prices/rules.ts',
    'prices/terms.ts',
    'price-lists/price-list.ts',
    'price-lists/suggestions.ts',
    'reconciliation/reconciliation.ts',
    'prices/money.ts',
    'reports/ledger.ts',
    'reports/usage.ts',
    'verify.ts',
  ],
  accounts: [
    'accounts.ts',
    'budgets/budgets.ts',
    'budgets/known-budgets.ts',
    'credit-use.ts',
    'keys/keys.ts',
    'present.ts',
    'verify.ts',
  ],
  alerts: [],
  batches: ['ids.ts', 'progress/present.ts', 'progress/progress.ts', 'progress/schema.ts', 'verify.ts'],
  mail: ['letter-words.ts', 'mailer.ts', 'payer-words.ts', 'queuing.ts', 'sent-mails.ts'],
  people: [
    'admin.ts',
    'email.ts',
    'grants/grants.ts',
    'identities.ts',
    'invitations/invitations.ts',
    'people.ts',
    'person.ts',
    'settings-rule.ts',
    'verify.ts',
  ],
  signin: [
    'credential-change.ts',
    'guard.ts',
    'removal.ts',
    'routes.ts',
    'session/reply.ts',
    'session/sessions.ts',
    'settings-rule.ts',
    'sign-up.ts',
    'signin.ts',
    'verify.ts',
  ],
  demo: ['demo.ts'],
  documents: [
    'document.ts',
    'file-name.ts',
    'invoice-paper.ts',
    'print/print-style.ts',
    'print/printed-settings.ts',
    'writing-thread.ts',
  ],
  access: [
    'access.ts',
    'actor.ts',
    'audit/audit.ts',
    'audit/audit-log.ts',
    'portal/login.ts',
    'portal/reader.ts',
    'new-id.ts',
    'permitted.ts',
    'policy.ts',
    'portal/portal.ts',
    'audit/recorded-query.ts',
    'schema.ts',
    'verify.ts',
    'visits.ts',
  ],
  drafting: ['drafting.ts', 'templates.ts', 'verify.ts'],
  invoicing: [
    'files/files.ts',
    'invoices.ts',
    'mail/sending.ts',
    'mail/mails.ts',
    'run/monthly-run.ts',
    'schema.ts',
    'settings.ts',
    'settings-rule.ts',
    'verify.ts',
  ],
  overview: [],
  'client-data': ['verify.ts'],
  usage: ['own/own.ts', 'own/schema.ts', 'reads.ts', 'requests/refusals.ts'],
  clients: [
    'documents/contents.ts',
    'handover/handover.ts',
    'import/import.ts',
    'letters/files.ts',
    'letters/mail/mails.ts',
    'letters/mail/sending.ts',
    'money.ts',
    'records.ts',
    'schema.ts',
    'verify.ts',
  ],
}
const architecture: Architecture = {
  layers: [
    { name: 'main', contains: (file) => file === 'src/main.ts' },
    { name: 'commands', contains: (file) => file.startsWith('src/commands/') },
    { name: 'app', contains: (file) => ['src/service.ts', 'src/app.ts'].includes(file) },
    {
      name: 'features',
      contains: (file) => Object.keys(entryPoints).some((feature) => file.startsWith(`src/${feature}/`)),
    },
    { name: 'platform', contains: (file) => file.startsWith('src/platform/') },
  ],
  entryPoints,
  // The samples of the documentation contain the expression as text.
  environment: ['src/platform/config/config.ts', 'src/main.ts', 'src/platform/docs/literals.ts'],
  // The statements of the migrations' own table belong to the code that runs migrations.
  sql: ['src/platform/database/migrations.ts'],
}

const root = path.join(import.meta.dirname, '..')

/** The sources of the service and of the pages, without their tests. */
const sources = read('src', ['.ts'])
const pages = read('web', ['.ts', '.tsx'])

function read(folder: string, endings: readonly string[]): SourceTree {
  return new Map(
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => endings.some((ending) => file.endsWith(ending)) && !file.endsWith('.test.ts'))
      .filter((file) => !/^(?:dist|node_modules)\b/.test(file))
      .map((file) => [`${folder}/${file}`, readFileSync(path.join(root, folder, file), 'utf8')]),
  )
}

function readTests(): SourceTree {
  const files = globSync('{src,web,models,tests}/**/*.test.{ts,tsx}', { cwd: root, exclude: ['**/node_modules'] })
  return new Map(files.map((file) => [file, readFileSync(path.join(root, file), 'utf8')]))
}

const featureOf = (file: string) => file.split('/')[1]

describe('the sources', () => {
  test('keep every rule', () => {
    assert.ok(sources.size > 50 && pages.size > 20, 'the sources were not found')
    assert.deepEqual(violations(sources, architecture), [])
  })

  test('load the service only in the processes that serve', () => {
    const loads = /^import (?!type)[^\n]*\/(?:service|serve)\.ts'/m
    const loading = [...sources].flatMap(([file, text]) => (loads.test(text) ? [file] : []))
    assert.deepEqual(loading, ['src/commands/start/serve.ts', 'src/commands/start/worker.ts'])
  })

  test('have no import cycle, even of types', () => {
    assert.deepEqual(cycles(sources), [])
  })

  test('give a name one meaning across features', () => {
    assert.deepEqual(ambiguousNames(sources), [])
  })

  test('name types by nouns, not by what was done to a thing', () => {
    assert.deepEqual(namelessTypes(sources), [])
    const tree = new Map([
      ['src/a.ts', 'export interface Paid {}\nexport type Need = string\nexport type Kept = 1\nexport type Tried = 2'],
    ])
    assert.deepEqual(namelessTypes(tree), ['Tried: src/a.ts'])
  })

  test('import only types into the pages, except what both must read alike', () => {
    assert.deepEqual(
      runtimeImportsOf(pages, 'src/').filter((each) => !sharedFiles.some((file) => each.endsWith(`: ${file}`))),
      [],
    )
    for (const file of sharedFiles) {
      const imported = importsOf(file, sources.get(file) ?? assert.fail(file))
      assert.deepEqual(
        imported.filter((each) => !sharedFiles.includes(each)),
        [],
      )
    }
  })

  test('have every declared entry point, and use every one from outside its feature', () => {
    const declared = Object.entries(entryPoints).flatMap(([feature, files]) =>
      files.map((file) => `src/${feature}/${file}`),
    )
    const used = new Set(
      [...sources].flatMap(([file, text]) =>
        importsOf(file, text).filter((target) => featureOf(target) !== featureOf(file)),
      ),
    )
    assert.deepEqual(
      declared.filter((file) => !sources.has(file) || !used.has(file)),
      [],
    )
  })
})

describe('the tests', () => {
  const tests = readTests()

  test('take the cases of property tests from draws()', () => {
    assert.ok(tests.size > 300, 'the tests were not found')
    assert.deepEqual(otherDraws(tests), [])
  })

  test('change nothing global while they load: files that run in the same process load together', () => {
    const change = /^(?:mock\.|process\.env\b.*(?<!=)=(?!=)|globalThis\.\S+ = )/m
    assert.deepEqual(
      [...tests].filter(([, text]) => change.test(text)).map(([file]) => file),
      [],
    )
  })

  test('count work, steps or statements instead of measuring durations, processor time or memory', () => {
    // B77 promises the same time, and the figures of bench/ are durations.
    const others = measurements(tests).filter((each) => !/^(?:bench|tests\/http\/record-access\.)/.test(each))
    assert.deepEqual(others, [])
  })
})

/** The violations in a small tree. */
function judge(files: Record<string, string>): string[] {
  return violations(new Map(Object.entries(files)), architecture)
}

const leaf = 'export const x = 1\n'
const measuredIn = (text: string) => measurements(new Map([['src/a.test.ts', text]])).length

describe('the rules allow', () => {
  test('imports of lower layers and through entry points', () => {
    const tree = {
      'src/main.ts': `import { x } from './commands/run.ts'\nconsole.log(process.env, x)`,
      'src/commands/run.ts': `import { x } from '../app.ts'\nconst { y } = await import('../billing/till/till.ts')`,
      'src/app.ts': `import { x } from './billing/till/till.ts'\nimport type { y } from './platform/database/database.ts'`,
      'src/billing/till/till.ts': `import { x } from './store.ts'\nimport { y } from '../../models/model.ts'`,
      'src/billing/till/store.ts': `import { x } from '../../platform/database/database.ts'`,
      'src/models/model.ts': leaf,
      'src/platform/database/database.ts': leaf,
    }
    assert.deepEqual(judge(tree), [])
  })

  test('forbidden words in comments and strings', () => {
    const text = `
      // const x: any = process.env.HOME; import './nowhere.ts'
      /* export * from './nowhere.ts' */
      const address = 'https://example.org' // any
      const sentence = "as any one can see: any"
      const many: Company = { any: 1 }`
    assert.deepEqual(judge({ 'src/platform/words.ts': text }), [])
  })
})

describe('the rules catch', () => {
  const cases: [name: string, files: Record<string, string>, violation: RegExp][] = [
    [
      'platform that imports a feature',
      { 'src/platform/a.ts': `import { x } from '../billing/till/till.ts'`, 'src/billing/till/till.ts': leaf },
      /src\/platform\/a\.ts: imports src\/billing\/till\/till\.ts of a layer above/,
    ],
    [
      'a feature that imports the app, for a type alone',
      { 'src/billing/a.ts': `import type { x } from '../app.ts'`, 'src/app.ts': leaf },
      /src\/billing\/a\.ts: imports src\/app\.ts of a layer above/,
    ],
    [
      'the app that imports a command, on demand',
      { 'src/app.ts': `const x = await import('./commands/run.ts')`, 'src/commands/run.ts': leaf },
      /src\/app\.ts: imports src\/commands\/run\.ts of a layer above/,
    ],
    [
      'a command that imports main, for its effect',
      { 'src/commands/a.ts': `import '../main.ts'`, 'src/main.ts': leaf },
      /src\/commands\/a\.ts: imports src\/main\.ts of a layer above/,
    ],
    [
      'a feature that bypasses an entry point of another',
      {
        'src/generation/a.ts': `import {\n  x,\n} from "../billing/till/limits.ts"`,
        'src/billing/till/limits.ts': leaf,
      },
      /src\/generation\/a\.ts: imports src\/billing\/till\/limits\.ts, which is no entry point of billing/,
    ],
    [
      'a command that bypasses an entry point',
      { 'src/commands/a.ts': `export { x } from '../billing/till/limits.ts'`, 'src/billing/till/limits.ts': leaf },
      /src\/commands\/a\.ts: imports src\/billing\/till\/limits\.ts, which is no entry point/,
    ],
    [
      'a feature that reads the store of another',
      { 'src/billing/a.ts': `import { x } from '../accounts/store.ts'`, 'src/accounts/store.ts': leaf },
      /src\/billing\/a\.ts: imports the store of accounts/,
    ],
    [
      'a feature that opens another',
      { 'src/billing/a.ts': `import { x } from '../models/open.ts'`, 'src/models/open.ts': leaf },
      /src\/billing\/a\.ts: opens models, which the service does/,
    ],
    [
      'the app that reads a store',
      { 'src/app.ts': `import { x } from './billing/prices/store.ts'`, 'src/billing/prices/store.ts': leaf },
      /src\/app\.ts: imports the store of billing/,
    ],
    ['an import of a missing file', { 'src/app.ts': `import { x } from './gone.ts'` }, /src\/gone\.ts, which is not/],
    ['the environment', { 'src/platform/a.ts': `const x = process.env.HOME` }, /reads the environment/],
    ['the environment by index', { 'src/app.ts': `const x = process['env']` }, /reads the environment/],
    ['the environment by import', { 'src/app.ts': `import { env } from 'node:process'` }, /reads the environment/],
    ['the environment in a template', { 'src/app.ts': 'const x = `${process.env.HOME}`' }, /reads the environment/],
    ['any as a type', { 'src/app.ts': `const x: any = 1` }, /has an any/],
    ['any as an argument of a type', { 'src/app.ts': `const x = new Map<string, any>()` }, /has an any/],
    ['any as an assertion', { 'src/app.ts': `f('//', x as any)` }, /has an any/],
    ['a vague name', { 'src/billing/utils.ts': leaf }, /its name says nothing/],
    ['a vague name with a prefix', { 'src/billing/price-helpers.ts': leaf }, /its name says nothing/],
    ['a folder with a vague name', { 'src/platform/common/a.ts': leaf }, /its name says nothing/],
    ['a barrel', { 'src/billing/index.ts': leaf }, /a barrel/],
    [
      'a file that re-exports everything',
      { 'src/app.ts': `export * from './platform/a.ts'`, 'src/platform/a.ts': leaf },
      /a barrel/,
    ],
  ]
  cases.push(
    ['SQL outside a store', { 'src/app.ts': 'const x = `\n  select id from person`' }, /has SQL and is no store/],
    ['SQL in a quoted string', { 'src/app.ts': `const x = 'update person set name = $1'` }, /has SQL and is no store/],
    ['a call of an SQL function', { 'src/app.ts': `const x = 'select till($1)'` }, /has SQL and is no store/],
  )
  for (const [name, files, violation] of cases) {
    test(name, () => {
      const found = judge(files)
      assert.equal(found.length, 1, found.join('\n'))
      assert.match(found[0] ?? '', violation)
    })
  }

  test('a file outside all layers', () => {
    assert.throws(
      () => judge({ 'src/extra/a.ts': `import './b.ts'`, 'src/extra/b.ts': leaf }),
      /src\/extra\/a\.ts is in 0 layers/,
    )
  })

  test('cycles, even of three files, on demand and of types', () => {
    const tree = new Map([
      ['src/a.ts', `import {\n  x,\n} from './b.ts'`],
      ['src/b.ts', `import { x } from './c.ts'`],
      ['src/c.ts', `const x = await import('./a.ts')`],
      ['src/d.ts', `import type { y } from './e.ts'`],
      ['src/e.ts', `import type {\n  y,\n} from './d.ts'`],
      ['src/f.ts', `import './a.ts'\nimport type { y } from './d.ts'`],
    ])
    assert.deepEqual(cycles(tree), [
      ['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/a.ts'],
      ['src/d.ts', 'src/e.ts', 'src/d.ts'],
    ])
  })

  test('a name with two meanings, but not the same name within a feature or in a comment', () => {
    const tree = new Map([
      ['src/billing/a.ts', `export interface Hold {}\nexport const price = 1`],
      ['src/billing/b.ts', `export const price = 1`],
      ['src/people/a.ts', `export type Hold = string\n/*\nexport const price = 1\n*/`],
    ])
    assert.deepEqual(ambiguousNames(tree), ['Hold: src/billing/a.ts, src/people/a.ts'])
  })

  test('code of the server in the pages, but not its types', () => {
    const tree = new Map([
      ['web/a.ts', `import type { x } from '../src/app.ts'`],
      ['web/pages/b.tsx', `import { x } from '../../src/app.ts'\nimport type { y } from '../../src/main.ts'`],
    ])
    assert.deepEqual(runtimeImportsOf(tree, 'src/'), ['web/pages/b.tsx: src/app.ts'])
  })

  test('property tests with draws of their own', () => {
    const tree = new Map([
      ['src/a.test.ts', `fc.assert(\n  fc.property(x, () => f(')')),\n  { numRuns: 5 },\n)`],
      ['src/b.test.ts', `fc.assert(p)\nfc.assert(p, draws({ test: 5, endure: 50 }))`],
      ['src/c.test.ts', `await fc.assert(p, { ...draws({ test: 5, endure: 50 }), endOnFailure: true })`],
    ])
    assert.deepEqual(
      otherDraws(tree).map((each) => each.replace(/: .*/, '')),
      ['src/a.test.ts', 'src/b.test.ts'],
    )
  })

  test('a measured duration', () => {
    const measured = [
      'assert.ok(performance.now() - began < 50)',
      'const began = realNow()\nassert.ok(end - began < 50)',
      'const end = Date.now()\nassert.ok((end - start) / 1000 < 5)',
      'Math.abs(time - Date.now() / 1000)',
      'process.memoryUsage().heapUsed',
    ]
    const others = ['const past = Date.now() - 60_000', 'const began = Date.now()\nassert.ok(time >= began - 1000)']
    assert.deepEqual(measured.map(measuredIn), [1, 1, 1, 1, 1])
    assert.deepEqual(others.map(measuredIn), [0, 0])
  })
})
