import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { parseDocument } from 'yaml'
import { changesSinceReleases, codesOf } from '../scripts/docs/api-changes.ts'
import { readOpenApi } from '../scripts/docs/openapi.ts'
import { listSettings } from '../scripts/docs/settings.ts'
import { renderPages } from '../scripts/docs.ts'
import { digestsOfPages } from '../scripts/pictures.ts'
import { loadConfig } from '../src/platform/config/config.ts'
import { configSchema, environmentVariables } from '../src/platform/config/schema.ts'
import { problems } from '../src/platform/problems.ts'
import { entriesOf } from '../src/platform/text/json.ts'
import { at, parseObject } from './support/json.ts'
import { allCommands, allMatches, missingFrom, unknownCommands, unmentionedCommands } from './support/pages.ts'

const root = path.join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

const openApi = await readOpenApi()
const generated = renderPages(openApi)

describe('generated pages', () => {
  test('are up to date', () => {
    assert.deepEqual(stalePages(generated, read), [], 'run npm run docs')
  })

  test('this check finds a page that is missing or differs in one character', () => {
    const [[first, content] = ['', ''], [second] = ['']] = [...generated]
    const disk = new Map([...generated, [first, content.replace('.', '!')]])
    disk.delete(second)
    const readDisk = (page: string) => disk.get(page) ?? assert.fail('there is no such file')
    assert.deepEqual(stalePages(generated, readDisk), [first, second])
  })
})

describe('the API below /v1', () => {
  test('has only additions to that of each release', () => {
    for (const [release, changes] of changesSinceReleases(openApi)) assert.deepEqual(changes, [], release)
  })

  test('describes the codes of its errors where this check looks for them', () => {
    const errors = entriesOf(at(openApi, 'paths')).flatMap(([url, methods]) =>
      entriesOf(methods)
        .filter(() => url.startsWith('/v1/'))
        .flatMap(([, operation]) => entriesOf(at(operation, 'responses')).filter(([status]) => status >= '400')),
    )
    assert.ok(errors.length > 100)
    assert.ok(errors.every(([, response]) => codesOf(response).length > 0))
  })
})

test('the pictures in the README show the pages as they are', () => {
  const shown = parseObject(read('docs/images/pages.json'))
  const current = digestsOfPages()
  const stale = Object.keys(current).filter((name) => current[name] !== shown[name])
  assert.deepEqual(
    stale,
    [],
    'these pages have changed since their pictures were taken: run node scripts/screenshots.ts',
  )
})

test('the SQL functions that documents and comments name exist', () => {
  const functions = new Set(
    globSync('migrations/functions/*/*.sql', { cwd: root }).map((file) => path.basename(file, '.sql')),
  )
  const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
  const named = [
    ...documents.map((file) => [file, read(file), /`(\w+)\(\)`/g] as const),
    ...globSync('src/**/*.ts', { cwd: root }).map((file) => [file, commentsOf(read(file)), /\b(\w+)\(\)/g] as const),
  ].flatMap(([file, text, name]) =>
    allMatches(text, name)
      .filter((each) => each.includes('_'))
      .map((each) => ({ file, each })),
  )
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter(({ each }) => !functions.has(each) && !each.startsWith('pg_')),
    [],
  )
})

const commentsOf = (source: string): string =>
  source
    .split('\n')
    .filter((line) => /^\s*(?:\/?\*|\/\/)/.test(line))
    .join('\n')

describe('CONTRIBUTING', () => {
  const page = read('CONTRIBUTING.md')

  for (const [topic, example] of [
    ['A field of a client', 'billing_extra'],
    ['A way to sign in', 'email_link'],
  ] as const) {
    test(`names every file that has an example: ${topic}`, () => {
      const list = new RegExp(`^\\*\\*${topic}\\*\\*.*?(?=^\\*\\*)`, 'ms').exec(page)?.[0] ?? ''
      const sources = [
        'src/**/!(*.test).ts',
        'migrations/schema.sql',
        'migrations/functions/**/*.sql',
        'web/**/*.{ts,tsx}',
      ]
      const tests = ['src/access/columns.test.ts', 'tests/support/{erasable,full-database}.ts']
      const found = globSync([...sources, ...tests], { cwd: root, exclude: (name) => name === 'dist' })
        .filter((file) => !file.startsWith('src/signin/methods/'))
        .filter((file) => new RegExp(`\\b${example}\\b`).test(read(file)))
      assert.ok(found.length > 5)
      assert.deepEqual(
        found.filter((file) => !list.includes(`\`${file}\``)),
        [],
      )
    })
  }

  test('names files that exist', () => {
    const named = allMatches(page, /`((?:src|web|tests|migrations|scripts|bench|docs)\/[\w./-]+\.\w+)`/g)
    assert.ok(named.length > 20)
    assert.deepEqual(
      named.filter((file) => !existsSync(path.join(root, file))),
      [],
    )
  })
})

describe('errors', () => {
  const codes = Object.keys(problems)
  const page = read('docs/errors.md')

  test('every code has a row, and a heading with advice to which error bodies link', () => {
    assert.deepEqual(missingFrom(codes, errorRows(page)), [])
    assert.deepEqual(missingFrom(codes, errorHeadings(page)), [])
  })

  test('every code on the page exists', () => {
    assert.deepEqual(missingFrom([...errorRows(page), ...errorHeadings(page)], codes), [])
  })

  test('this check finds a code without row, heading or advice, and one that does not exist', () => {
    assert.deepEqual(missingFrom(codes, errorRows(page.replace('| [`overloaded`]', '| [`overfull`]'))), ['overloaded'])
    assert.deepEqual(missingFrom(codes, errorHeadings(page.replace('\n## internal\n', '\n'))), ['internal'])
    assert.deepEqual(missingFrom(codes, errorHeadings(page.replace(/(## internal\n\n.+\n\n).+/, '$1'))), ['internal'])
    assert.deepEqual(missingFrom(errorHeadings(page.replace('## internal', '## eternal')), codes), ['eternal'])
  })

  /** Codes that src does not throw yet, each with the reason why it is in the table. */
  const notThrown: Record<string, string> = {}
  const sources = globSync('src/**/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts') && file !== path.join('src', 'platform', 'problem-table.ts'))
    .map(read)
    .join('\n')
  const thrownIn = (source: string) => codes.filter((code) => source.includes(`'${code}'`))

  test('every other code is thrown somewhere', () => {
    assert.deepEqual(missingFrom(codes, [...thrownIn(sources), ...Object.keys(notThrown)]), [])
  })

  test('no exempt code is thrown', () => {
    assert.deepEqual(missingFrom(Object.keys(notThrown), missingFrom(codes, thrownIn(sources))), [])
  })

  test('this check does not count a code in a comment as thrown', () => {
    const source = sources.replaceAll("'revoked_key'", 'revoked_key')
    assert.deepEqual(missingFrom(codes, [...thrownIn(source), ...Object.keys(notThrown)]), ['revoked_key'])
  })
})

describe('settings', () => {
  const settings = listSettings(configSchema)
  const paths = [...new Set(settings.map((setting) => setting.path))]
  const page = read('docs/configuration.md')
  const example = read('tollgate.example.yaml')

  test('every setting and every environment variable has a line on the page, and every line is one of them', () => {
    const documented = [...paths, ...Object.keys(environmentVariables)]
    assert.deepEqual(missingFrom(documented, settingRows(page)), [])
    assert.deepEqual(missingFrom(settingRows(page), documented), [])
  })

  test('every setting has a description', () => {
    assert.deepEqual(
      settings.filter(({ description }) => !/^\S.*\.$/.test(description)),
      [],
    )
  })

  test('the example file is valid and has every setting, for every engine that has it', () => {
    const config = loadConfig({
      environment: { ...exampleSecrets(), TOLLGATE_CONFIG: 'tollgate.example.yaml' },
      root,
      cwd: root,
    })
    assert.equal(config.models.length, 5)
    assert.deepEqual(missingFrom(settings.map(nameOf), pathsIn(parseYaml(example))), [])
  })

  test('this check finds a setting missing from the page or the example', () => {
    assert.deepEqual(missingFrom(paths, settingRows(page.replace('| `session.idle` |', '| session.idle |'))), [
      'session.idle',
    ])
    const without = example.replaceAll('parallel: 8', '').replace('token: ${SMS_TOKEN}', '')
    const missing = new Set(missingFrom(settings.map(nameOf), pathsIn(parseYaml(without))))
    assert.deepEqual([...missing], ['local models[].parallel', 'sms.token'])
  })
})

describe('the container files', () => {
  const image = environmentOfImage(read('Dockerfile'))
  const service = at(parseYaml(read('compose.yaml')), 'services', 'tollgate')
  const composed = parseObject(JSON.stringify(at(service, 'environment')))

  test('set only variables that Tollgate reads', () => {
    assert.deepEqual(Object.keys(image), ['TOLLGATE_DATA', 'HOST'])
    assert.deepEqual(missingFrom(Object.keys({ ...image, ...composed }), Object.keys(environmentVariables)), [])
  })

  test('lead to a configuration with the database and the port that they name', () => {
    const address = String(composed['DATABASE_URL']).replace('${DATABASE_PASSWORD:?}', 'secret')
    const environment = { ...image, DATABASE_URL: address, TOLLGATE_CONFIG: 'tollgate.example.yaml' }
    const config = loadConfig({ environment: { ...exampleSecrets(), ...environment }, root, cwd: root })
    assert.equal(config.database, 'postgres://tollgate:secret@database/tollgate')
    assert.deepEqual(at(service, 'ports'), [`127.0.0.1:8080:${config.listen.port}`])
    assert.match(
      read('Dockerfile'),
      new RegExp(`EXPOSE ${config.listen.port}\n[^]*127\\.0\\.0\\.1:${config.listen.port}/readyz`),
    )
  })

  test('mount files of the repository that exist, or that the operator writes', () => {
    const mounted = allMatches(read('compose.yaml'), /- \.\/([\w./-]+):/g)
    assert.deepEqual(mounted, ['tollgate.yaml', 'scripts/create-database.sql'])
    assert.ok(existsSync(path.join(root, 'scripts/create-database.sql')))
  })
})

/** A value for each secret that the example file refers to. */
function exampleSecrets(): Record<string, string> {
  const key = Buffer.alloc(32).toString('base64')
  const names = allMatches(read('tollgate.example.yaml'), /\$\{(\w+)\}/g)
  return Object.fromEntries(names.map((name) => [name, name === 'ENCRYPTION_KEY' ? key : 'x']))
}

/** The variables that the last stage of a Dockerfile sets. */
function environmentOfImage(file: string): Record<string, string> {
  const pairs = file.slice(file.lastIndexOf('\nFROM ')).matchAll(/^ENV (\w+)=(\S+)$/gm)
  return Object.fromEntries([...pairs].map(([, name = '', value = '']) => [name, value]))
}

describe('pages', () => {
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })

  test('every link to a file of the project has a target', () => {
    assert.deepEqual(
      pages.flatMap((page) => deadLinks(page, read(page))),
      [],
    )
  })

  test('every npm script that a page names exists', () => {
    assert.deepEqual(missingFrom(scriptsIn(pages.map(read).join('\n')), scripts()), [])
  })

  test('the version of the engine is that of package.json', () => {
    const named = pages.flatMap((page) => allMatches(read(page), /@node-llama-cpp\/[\w-]+@([\w.-]+)/g))
    assert.deepEqual([...new Set(named)], [packageText('dependencies', 'node-llama-cpp')])
  })

  test('this check finds a dead link and a script that does not exist', () => {
    const links = '[a](operating.md#backup) [b](../README.MD) [c](https://example.com/x) [d](nowhere.md)'
    assert.deepEqual(deadLinks('docs/errors.md', links), ['docs/errors.md: ../README.MD', 'docs/errors.md: nowhere.md'])
    assert.deepEqual(missingFrom(scriptsIn('`npm run bench` and `npm run bnech`'), scripts()), ['bnech'])
  })
})

test('“email” is spelt one way', () => {
  const texts = globSync(['*.md', 'docs/**/*.md', 'src/**/*.ts', 'web/{pages,components,sign-in}/**/*.{ts,tsx}'], {
    cwd: root,
    // It accepts both spellings in the first line of a file.
    exclude: ['src/clients/import/file.ts', 'src/clients/import/import.test.ts'],
  })
  assert.deepEqual(
    texts.filter((file) => /\be-mail/i.test(read(file))),
    [],
  )
})

describe('commands', { skip: !existsSync(path.join(root, 'src/main.ts')) && 'there is no command line yet' }, () => {
  const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })
  const forOperators = ['README.md', 'docs/operating.md']

  test('every ./tollgate line of a page is a command that exists, with options that exist', async () => {
    assert.deepEqual(await unknownCommands(pages.map(read).join('\n')), [])
  })

  test('every command is on a page', async () => {
    const commands = await allCommands()
    assert.ok(commands.includes('key create') && commands.includes('verify'), 'the help is not read')
    assert.deepEqual(unmentionedCommands(commands, forOperators.map(read).join('\n')), [])
  })

  test('this check finds a command that no page names, or only outside of code', () => {
    const page =
      '```sh\n./tollgate key list --json\n```\n`verify` and `account show <name>`. The doctor and `key` help.\n'
    const commands = ['key list', 'verify', 'account show', 'doctor', 'key', 'account', 'key li', 'price list']
    assert.deepEqual(unmentionedCommands(commands, page), ['doctor', 'key li', 'price list'])
  })

  test('this check finds a command, a subcommand and an option that do not exist', async () => {
    const page =
      '```sh\n./tollgate acount list\n$ ./tollgate account list | ./tollgate account explode --json\n./tollgate account list --jsn\n```\n'
    assert.deepEqual(await unknownCommands(page), ['acount list', 'account explode --json', 'account list --jsn'])
  })

  test('this check also reads indented fences', async () => {
    assert.deepEqual(await unknownCommands('1. Do:\n\n   ```sh\n   ./tollgate nothing\n   ```\n'), ['nothing'])
  })

  test('text outside fences is not a command', async () => {
    assert.deepEqual(await unknownCommands('./tollgate nothing\n```json\n{}\n```\n`./tollgate nothing`\n'), [])
  })
})

/** The generated pages that are missing on disk or differ. */
function stalePages(pages: ReadonlyMap<string, string>, readPage: (page: string) => string): string[] {
  const isStale = ([page, content]: [string, string]) => {
    try {
      return readPage(page) !== content
    } catch {
      return true
    }
  }
  return [...pages].filter(isStale).map(([page]) => page)
}

function errorHeadings(page: string): string[] {
  return allMatches(page, /^## (\S+)\n\nStatus \d{3}\. .+\n\n.+$/gm)
}

function errorRows(page: string): string[] {
  return allMatches(page, /^\| \[`(\w+)`\]\(#\1\) \| \d{3} \| (?:yes|no) \| \S/gm)
}

function settingRows(page: string): string[] {
  return allMatches(page, /^\| `([^`]+)` \| \S.* \| \S.* \| \S.* \|$/gm)
}

function deadLinks(page: string, markdown: string): string[] {
  return allMatches(markdown, /\]\(([^)\s#]+)[^)]*\)/g)
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => !existsSync(path.join(root, path.dirname(page), link)))
    .map((link) => `${page}: ${link}`)
}

function scriptsIn(markdown: string): string[] {
  return allMatches(markdown, /\bnpm run ([\w:-]+)/g)
}

function scripts(): string[] {
  return Object.keys(packagePart('scripts'))
}

function packageText(part: string, name: string): unknown {
  return Reflect.get(packagePart(part), name)
}

function packagePart(name: string): object {
  const content: unknown = JSON.parse(read('package.json'))
  const part: unknown = typeof content === 'object' && content !== null ? Reflect.get(content, name) : undefined
  return typeof part === 'object' && part !== null ? part : {}
}

function nameOf({ engine, path: place }: { engine: string | null; path: string }): string {
  return engine === null ? place : `${engine} ${place}`
}

function parseYaml(text: string): unknown {
  return parseDocument(text).toJS()
}

/** The place of every value and group of a file, as `nameOf` writes it. */
function pathsIn(value: unknown, place = '', engine: string | null = null): string[] {
  if (Array.isArray(value))
    return [nameOf({ engine, path: place }), ...value.flatMap((each) => pathsIn(each, `${place}[]`, engine))]
  if (typeof value !== 'object' || value === null) return [nameOf({ engine, path: place })]
  const own = 'engine' in value && typeof value.engine === 'string' ? value.engine : engine
  const below = Object.entries(value).flatMap(([name, inner]) =>
    pathsIn(inner, place === '' ? name : `${place}.${name}`, own),
  )
  return [nameOf({ engine: own, path: place }), ...below]
}
