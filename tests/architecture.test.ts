import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { cycles, importsOf, violations, type House, type Tree } from './support/architecture.ts'

/** The house as ARCHITECTURE.md draws it. A new door is a decision: it is made here. */
const doors = {
  generation: ['generation.ts', 'routes.ts'],
  models: [
    'model.ts',
    'catalogue.ts',
    'configured.ts',
    'local/gguf.ts',
    'local/check.ts',
    'pull/pull.ts',
    'tokenizer/tokenizer.ts',
    'upstream/ai-sdk-provider.ts',
  ],
  billing: [
    'till.ts',
    'postgres-till.ts',
    'payer.ts',
    'price-rule.ts',
    'prices.ts',
    'money.ts',
    'ledger.ts',
    'usage.ts',
    'verify.ts',
    'housekeeping.ts',
  ],
  accounts: ['accounts.ts', 'keys.ts'],
  people: ['people.ts', 'person.ts', 'email.ts', 'identities.ts', 'routes.ts'],
  signin: [
    'configured.ts',
    'guard.ts',
    'me-routes.ts',
    'provider-logout.ts',
    'routes.ts',
    'sessions.ts',
    'settings-rule.ts',
    'signin.ts',
  ],
  demo: ['demo.ts'],
  access: [
    'access.ts',
    'actor.ts',
    'audit.ts',
    'login.ts',
    'policy.ts',
    'portal.ts',
    'routes.ts',
    'schema.ts',
    'verify.ts',
    'visits.ts',
  ],
  clients: ['import.ts', 'records.ts', 'routes.ts', 'schema.ts', 'verify.ts'],
}
const house: House = {
  layers: [
    { name: 'main', holds: (file) => file === 'src/main.ts' },
    { name: 'commands', holds: (file) => file.startsWith('src/commands/') },
    { name: 'app', holds: (file) => ['src/service.ts', 'src/app.ts'].includes(file) },
    { name: 'features', holds: (file) => Object.keys(doors).some((feature) => file.startsWith(`src/${feature}/`)) },
    { name: 'platform', holds: (file) => file.startsWith('src/platform/') },
  ],
  doors,
  environment: ['src/platform/config/config.ts', 'src/main.ts'],
}

const root = path.join(import.meta.dirname, '..')

/** The sources of the service, without their tests. */
const sources: Tree = new Map(
  readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => [`src/${file}`, readFileSync(path.join(root, 'src', file), 'utf8')]),
)

describe('the sources', () => {
  test('keep every rule', () => {
    assert.ok(sources.size > 50, 'the sources are not found')
    assert.deepEqual(violations(sources, house), [])
  })

  test('have no import cycle', () => {
    assert.deepEqual(cycles(sources), [])
  })

  test('have every door that is declared, and use every one', () => {
    const declared = Object.entries(doors).flatMap(([feature, files]) => files.map((file) => `src/${feature}/${file}`))
    const used = new Set([...sources].flatMap(([file, text]) => importsOf(file, text)))
    assert.deepEqual(
      declared.filter((door) => !sources.has(door) || !used.has(door)),
      [],
    )
  })
})

/** What the rules say of a small tree. */
function judge(files: Record<string, string>): string[] {
  return violations(new Map(Object.entries(files)), house)
}

const leaf = 'export const x = 1\n'

describe('the rules let pass', () => {
  test('imports down and through doors', () => {
    const tree = {
      'src/main.ts': `import { x } from './commands/run.ts'\nconsole.log(process.env, x)`,
      'src/commands/run.ts': `import { x } from '../app.ts'\nconst { y } = await import('../billing/till.ts')`,
      'src/app.ts': `import { x } from './billing/till.ts'\nimport type { y } from './platform/database/database.ts'`,
      'src/billing/till.ts': `import { x } from './store.ts'\nimport { y } from '../models/model.ts'`,
      'src/billing/store.ts': `import { x } from '../platform/database/database.ts'`,
      'src/models/model.ts': leaf,
      'src/platform/database/database.ts': leaf,
    }
    assert.deepEqual(judge(tree), [])
  })

  test('words in comments and texts', () => {
    const text = `
      // const x: any = process.env.HOME; import './nowhere.ts'
      /* export * from './nowhere.ts' */
      const address = 'https://example.org' // any
      const sentence = "as any one can see: any"
      const many: Company = { any: 1 }`
    assert.deepEqual(judge({ 'src/platform/words.ts': text }), [])
  })
})

describe('the rules bite on', () => {
  const cases: [name: string, files: Record<string, string>, violation: RegExp][] = [
    [
      'platform that imports a feature',
      { 'src/platform/a.ts': `import { x } from '../billing/till.ts'`, 'src/billing/till.ts': leaf },
      /src\/platform\/a\.ts: imports src\/billing\/till\.ts of a layer above/,
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
      'a feature that goes round the door of another',
      { 'src/generation/a.ts': `import {\n  x,\n} from "../billing/limits.ts"`, 'src/billing/limits.ts': leaf },
      /src\/generation\/a\.ts: imports src\/billing\/limits\.ts, which is no door of billing/,
    ],
    [
      'a command that goes round the door of a feature',
      { 'src/commands/a.ts': `export { x } from '../billing/limits.ts'`, 'src/billing/limits.ts': leaf },
      /src\/commands\/a\.ts: imports src\/billing\/limits\.ts, which is no door/,
    ],
    [
      'a feature that reads the store of another',
      { 'src/billing/a.ts': `import { x } from '../accounts/store.ts'`, 'src/accounts/store.ts': leaf },
      /src\/billing\/a\.ts: imports the store of accounts/,
    ],
    [
      'the app that reads a store',
      { 'src/app.ts': `import { x } from './billing/prices-store.ts'`, 'src/billing/prices-store.ts': leaf },
      /src\/app\.ts: imports the store of billing/,
    ],
    [
      'an import of what is not there',
      { 'src/app.ts': `import { x } from './gone.ts'` },
      /src\/gone\.ts, which is not/,
    ],
    ['the environment', { 'src/platform/a.ts': `const x = process.env.HOME` }, /reads the environment/],
    ['the environment by another way', { 'src/app.ts': `const x = process['env']` }, /reads the environment/],
    ['the environment by import', { 'src/app.ts': `import { env } from 'node:process'` }, /reads the environment/],
    ['the environment in a text', { 'src/app.ts': 'const x = `${process.env.HOME}`' }, /reads the environment/],
    ['any as a type', { 'src/app.ts': `const x: any = 1` }, /has an any/],
    ['any as an argument of a type', { 'src/app.ts': `const x = new Map<string, any>()` }, /has an any/],
    ['any as an assertion', { 'src/app.ts': `f('//', x as any)` }, /has an any/],
    ['a drawer', { 'src/billing/utils.ts': leaf }, /named for no one thing/],
    ['a drawer with a prefix', { 'src/billing/price-helpers.ts': leaf }, /named for no one thing/],
    ['a folder that is a drawer', { 'src/platform/common/a.ts': leaf }, /named for no one thing/],
    ['a barrel', { 'src/billing/index.ts': leaf }, /a barrel/],
    [
      'a file that passes all on',
      { 'src/app.ts': `export * from './platform/a.ts'`, 'src/platform/a.ts': leaf },
      /a barrel/,
    ],
  ]
  for (const [name, files, violation] of cases) {
    test(name, () => {
      const found = judge(files)
      assert.equal(found.length, 1, found.join('\n'))
      assert.match(found[0] ?? '', violation)
    })
  }

  test('a file that no layer has', () => {
    assert.throws(
      () => judge({ 'src/extra/a.ts': `import './b.ts'`, 'src/extra/b.ts': leaf }),
      /src\/extra\/a\.ts is in 0 layers/,
    )
  })

  test('cycles, also of three and on demand, but not of types alone', () => {
    const tree = new Map([
      ['src/a.ts', `import {\n  x,\n} from './b.ts'`],
      ['src/b.ts', `import type { y } from './d.ts'\nimport { x } from './c.ts'`],
      ['src/c.ts', `import type {\n  y,\n} from './b.ts'\nconst x = await import('./a.ts')`],
      ['src/d.ts', `import './a.ts'`],
    ])
    assert.deepEqual(cycles(tree), [['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/a.ts']])
  })
})
