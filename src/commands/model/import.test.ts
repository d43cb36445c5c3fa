import assert from 'node:assert/strict'
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { tollgateHere } from '../../../tests/support/command-line.ts'
import { isEndure } from '../../../tests/support/draws.ts'
import { at, listAt, parseObject } from '../../../tests/support/json.ts'
import { modelLists, startModelServer, type Answers } from '../../../tests/support/model-lists.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { until } from '../../../tests/support/until.ts'
import { isForEmbeddings, loadConfig } from '../../platform/config/config.ts'

let url: string
const server = fixture(() => startModelServer({}))
setUp(() => {
  url = `${server.origin}/v1`
})

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'model-import-'))
  file = path.join(folder, 'tollgate.yaml')
  server.asked.length = 0
})
afterEach(() => rm(folder, { recursive: true }))

const configured = `# The firm's models.
models:
  - id: vendor/large # ours
    engine: local
    file: a.gguf
    context: 100
    max_output_tokens: 50

limits: { requests_per_minute: 7 } # few
`

const environment = () => ({ TOLLGATE_CONFIG: file, TOLLGATE_DATA: folder, UPSTREAM_KEY: 'sk-secret' })

function run(answers: Answers, ...args: readonly string[]) {
  server.answer(answers)
  return tollgateHere(['model', 'import', url, ...args], environment())
}

const modelsOf = () => loadConfig({ environment: environment(), root: folder }).models

describe('model import lists', () => {
  test("an upstream's models, with context and capabilities", async () => {
    await writeFile(file, configured)
    const { status, stdout, stderr } = await run(modelLists.openRouter, '--key-env', 'UPSTREAM_KEY')
    assert.deepEqual([status, stderr], [0, ''])
    assert.deepEqual(stdout.split('\n').slice(0, 4), [
      'MODEL              CONTEXT  MAX OUTPUT  CAPABILITIES                                       NOTE',
      'vendor/large       128,000      16,384  tools, json, images, documents?, reasoning         in the configuration',
      'vendor/small:free    8,192              documents?',
      'vendor/painter       4,096              tools?, json?, documents?, reasoning?, verbosity?  it is not a text model',
    ])
    assert.deepEqual(server.asked, ['GET /v1/models with sk-secret'])
    assert.equal(await readFile(file, 'utf8'), configured)
  })

  test('them as JSON, and without a configuration file', async () => {
    server.answer(modelLists.ollama)
    const { status, stdout } = await tollgateHere(['model', 'import', url, '--json'], { TOLLGATE_DATA: folder })
    assert.equal(status, 0)
    const [first, second] = listAt(parseObject(stdout), 'models')
    assert.deepEqual(first, {
      id: 'llama3.2:latest',
      context: 16_384,
      trained_context: 131_072,
      max_output_tokens: null,
      capabilities: {
        tools: true,
        forced_tools: null,
        json: null,
        images: false,
        documents: null,
        reasoning: false,
        verbosity: null,
      },
      writes_text: true,
      configured: false,
    })
    assert.deepEqual([at(second, 'context'), at(second, 'trained_context')], [null, 131_072])
  })
})

describe('model import writes', () => {
  test('the forced tools of another Tollgate', async () => {
    await writeFile(file, configured)
    const { status, stderr } = await run(modelLists.tollgate, '--all', '--write')
    assert.deepEqual([status, stderr], [0, ''])
    const entries = modelsOf().filter(({ id }) => id === 'tiny')
    assert.deepEqual(
      entries.map((entry) => 'capabilities' in entry && entry.capabilities),
      [['forced_tools', 'json']],
    )
  })

  test('chosen models after those that exist, without a price, and says what to do next', async () => {
    await writeFile(file, configured)
    await chmod(file, 0o640)
    const args = ['--key-env', 'UPSTREAM_KEY', '--model', 'vendor/small:free', '--model', 'vendor/large', '--write']
    const { status, stdout, stderr } = await run(modelLists.openRouter, ...args)
    assert.deepEqual([status, stderr], [0, ''])
    assert.equal(
      await readFile(file, 'utf8'),
      configured.replace(
        '\nlimits:',
        `  - id: vendor/small:free
    engine: openai
    endpoints: [ { url: ${url}, key: "\${UPSTREAM_KEY}" } ]
    upstream_model: vendor/small:free
    context: 8192
    max_output_tokens: 2048
    capabilities: [ documents ]
    pass: [ min_p, top_k ]

limits:`,
      ),
    )
    assert.equal((await stat(file)).mode & 0o777, 0o640)
    assert.deepEqual(await readdir(folder), ['tollgate.yaml'])
    assert.match(stdout, /^Added to .*tollgate\.yaml: vendor\/small:free\.\nLeft alone, .* has them: vendor\/large\.\n/)
    assert.match(stdout, /no price, so no request can use them yet[^]*\n {2}\.\/tollgate price set vendor\/small:free /)
    assert.doesNotMatch(stdout, /sk-secret/)
    assert.deepEqual(
      modelsOf().map(({ id, price }) => [id, price]),
      [
        ['vendor/large', undefined],
        ['vendor/small:free', undefined],
      ],
    )
  })

  test('all models that write text, and leaves them alone the second time', async () => {
    await writeFile(file, 'aliases: {}\n')
    const first = await run(modelLists.openRouter, '--all', '--write')
    assert.equal(first.status, 0, first.stderr)
    assert.match(first.stdout, /Left out \(it is not a text model\): vendor\/painter\.\n/)
    assert.match(first.stdout, /The list replaces the default one: add tiny to models too to keep it/)
    const [large] = modelsOf()
    assert.ok(large?.engine === 'openai' && !isForEmbeddings(large))
    assert.deepEqual(
      [large.endpoints, large.upstream_model, large.context, large.max_output_tokens, large.capabilities],
      [[{ url, weight: 1 }], 'vendor/large', 128_000, 16_384, ['tools', 'json', 'images', 'documents', 'reasoning']],
    )
    const written = await readFile(file, 'utf8')
    const second = await run(modelLists.openRouter, '--all', '--write')
    assert.equal(second.status, 0)
    assert.match(second.stdout, /^There is nothing to write\.\nLeft alone/)
    assert.doesNotMatch(second.stdout, /price set/)
    assert.equal(await readFile(file, 'utf8'), written)
  })

  test('nothing with --dry-run, which prints it', async () => {
    await writeFile(file, configured)
    const { status, stdout } = await run(modelLists.vllm, '--all', '--dry-run')
    assert.equal(status, 0)
    assert.match(
      stdout,
      /^This would be added to .*:\n\n- id: Qwen\/Qwen3-8B\n {2}engine: openai\n[^]* {2}context: 40960\n/,
    )
    assert.doesNotMatch(stdout, /\n\n\n/)
    assert.deepEqual([await readFile(file, 'utf8'), await readdir(folder)], [configured, ['tollgate.yaml']])
  })

  test('without those of OpenAI that do not chat, unless they are chosen by name', async () => {
    await writeFile(file, configured)
    const others = [
      'whisper-1',
      'tts-1-hd',
      'dall-e-3',
      'gpt-image-1',
      'omni-moderation-latest',
      'davinci-002',
      'o1-pro',
    ]
    const answers = { 'GET /v1/models': { json: { data: ['gpt-4o', 'o3-mini', ...others].map((id) => ({ id })) } } }
    const { stdout } = await run(answers, '--all', '--context', '8192', '--dry-run', '--json')
    const said = parseObject(stdout)
    const idsAt = (list: string, name: string) => listAt(said, list).map((each) => at(each, name))
    assert.deepEqual([idsAt('entries', 'id'), idsAt('left_out', 'model')], [['gpt-4o', 'o3-mini'], others])
    const named = await run(answers, '--model', 'o1-pro', '--context', '8192', '--dry-run', '--json')
    assert.equal(listAt(parseObject(named.stdout), 'entries').length, 1)
  })

  test('as JSON', async () => {
    await writeFile(file, configured)
    const { stdout } = await run(modelLists.ollama, '--all', '--write', '--json')
    const said = parseObject(stdout)
    assert.deepEqual(
      [said['dry_run'], said['kept'], said['trained_context'], said['no_longer_configured']],
      [false, [], ['gemma3'], []],
    )
    assert.deepEqual(said['left_out'], [{ model: 'nomic-embed-text', reason: 'it is not a text model' }])
    assert.deepEqual(
      listAt(said, 'entries').map((entry) => [at(entry, 'id'), at(entry, 'context'), at(entry, 'capabilities')]),
      [
        ['llama3.2:latest', 16_384, ['tools', 'json', 'documents', 'verbosity']],
        ['gemma3', 131_072, ['json', 'images', 'documents', 'reasoning', 'verbosity']],
      ],
    )
    assert.equal(listAt(said, 'next').length, 2)
    assert.deepEqual(modelsOf().length, 3)
  })

  test('the given context for models without one, and no capabilities that were not reported', async () => {
    await writeFile(file, '')
    const { status, stderr } = await run(modelLists.openai, '--model', 'gpt-4o', '--write', '--context', '128000')
    assert.equal(status, 0, stderr)
    const [model] = modelsOf()
    assert.ok(model && !isForEmbeddings(model))
    assert.deepEqual([model.context, model.max_output_tokens], [128_000, 32_000])
    assert.doesNotMatch(await readFile(file, 'utf8'), /capabilities|price|key/)
  })

  const many = isEndure ? 10_000 : 100
  test(`${many} models, with the first of the commands that follow`, async () => {
    await writeFile(file, configured)
    const data = Array.from({ length: many }, (_, index) => ({ id: `m${index}`, context_length: 8192 }))
    const { status, stdout, stderr } = await run({ 'GET /v1/models': { json: { data } } }, '--all', '--write')
    assert.equal(status, 0, stderr)
    assert.equal(modelsOf().length, many + 1)
    assert.equal(stdout.match(/price set/g)?.length, 20)
    assert.ok(stdout.endsWith(`\n  … and ${many - 20} more\n`))
  })

  test('no model whose name would read an environment variable, or whose id another one has', async () => {
    await writeFile(file, configured)
    const names = ['a@b', 'a b', 'a#b', 'a@b', '${UPSTREAM_KEY}', 'x${HOME']
    const data = names.map((id) => ({ id, context_length: 8192 }))
    const { status, stdout, stderr } = await run({ 'GET /v1/models': { json: { data } } }, '--all', '--write')
    assert.equal(status, 0, stderr)
    assert.match(stdout, /^Left out \(its id a-b would be that of a@b\): a#b\.$/m)
    assert.match(stdout, /^Left out \(its name has \$\{, .*\): \$\{UPSTREAM_KEY\}, x\$\{HOME\.$/m)
    assert.doesNotMatch(stdout, /Left alone/)
    const [, ...added] = modelsOf()
    assert.deepEqual(
      added.map((entry) => [entry.id, entry.engine === 'openai' && entry.upstream_model]),
      [['a-b', 'a@b']],
    )
    assert.doesNotMatch(await readFile(file, 'utf8'), /UPSTREAM_KEY|HOME/)
  })

  test('through a link, which stays one', async () => {
    const real = path.join(folder, 'real.yaml')
    await writeFile(real, configured)
    await symlink(real, file)
    assert.equal((await run(modelLists.vllm, '--all', '--write')).status, 0)
    assert.deepEqual((await readdir(folder)).toSorted(), ['real.yaml', 'tollgate.yaml'])
    assert.match(await readFile(real, 'utf8'), /Qwen3-8B/)
  })
})

describe('model import refuses', () => {
  const faults: readonly [string, Answers, readonly string[], RegExp][] = [
    [
      'a wrong key',
      { 'GET /v1/models': { status: 401 } },
      ['--key-env', 'UPSTREAM_KEY'],
      /refuses the key \(401\)\. Check/,
    ],
    ['a missing key', { 'GET /v1/models': { status: 401 } }, [], /needs a key \(401\)\. .* --key-env NAME/],
    ['a page', { 'GET /v1/models': { page: '<html>' } }, [], /answered with something other than a list of models/],
    ['something else', { 'GET /v1/models': { json: [] } }, [], /answered with something other than a list of models/],
    [
      'an unknown model',
      modelLists.vllm,
      ['--model', 'qwen/qwen3-8b', '--write'],
      /no model qwen\/qwen3-8b\. Did you mean Qwen\/Qwen3-8B\?/,
    ],
    [
      'a model without a context',
      modelLists.openai,
      ['--model', 'gpt-4o', '--write'],
      /gpt-4o cannot be imported: its context is not reported: give it with --context/,
    ],
    ['an embedding model', modelLists.mistral, ['--model', 'mistral-embed', '--write'], /is not a text model/],
    ['a variable that is not set', {}, ['--key-env', 'OTHER_KEY'], /OTHER_KEY is not set/],
  ]
  for (const [name, answers, args, message] of faults) {
    test(name, async () => {
      await writeFile(file, configured)
      const { status, stdout, stderr } = await run(answers, ...args)
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, message)
      assert.doesNotMatch(stderr, /sk-secret|Unexpected/)
      assert.equal(await readFile(file, 'utf8'), configured)
    })
  }

  test('an upstream that cannot be reached, and an address without its version', async () => {
    const nowhere = await tollgateHere(['model', 'import', 'http://127.0.0.1:1/v1'], environment())
    assert.match(nowhere.stderr, /^http:\/\/127\.0\.0\.1:1\/v1 cannot be reached: .*ECONNREFUSED.*\n$/)
    const bare = await tollgateHere(['model', 'import', server.origin], environment())
    assert.match(bare.stderr, /has no list of models there \(404\)\. The address usually ends in \/v1\.\n$/)
  })

  test('to write without a file, or with one that is invalid before or after', async () => {
    const none = await tollgateHere(['model', 'import', url, '--all', '--write'], { TOLLGATE_DATA: folder })
    assert.equal(none.status, 1)
    assert.match(none.stderr, /^There is no configuration file\. Create .*tollgate\.yaml/)
    await writeFile(file, 'limits: { requests: 1 }\n')
    assert.match((await run(modelLists.vllm, '--all', '--write')).stderr, /limits\.requests: is not a setting/)
    const aliases = 'aliases: { quick: tiny }\n'
    await writeFile(file, aliases)
    const refused = await run(modelLists.vllm, '--all', '--write')
    assert.equal(refused.status, 1)
    assert.match(
      refused.stderr,
      /^Nothing was written, because the configuration would be invalid:\naliases\.quick: must point/,
    )
    assert.deepEqual([await readFile(file, 'utf8'), await readdir(folder)], [aliases, ['tollgate.yaml']])
  })

  test('a file with bytes that are not UTF-8', async () => {
    const bytes = Buffer.concat([Buffer.from(configured), Buffer.from([0x23, 0xe9, 0x0a])])
    await writeFile(file, bytes)
    const { status, stderr } = await run(modelLists.vllm, '--all', '--write')
    assert.equal(status, 1)
    assert.match(stderr, /is not text in UTF-8/)
    assert.deepEqual(await readFile(file), bytes)
  })

  test('a list in one line, and prints what to add by hand', async () => {
    const flow = 'models: [{ id: a, engine: local, file: a.gguf, context: 100, max_output_tokens: 50 }]\n'
    await writeFile(file, flow)
    const { status, stderr } = await run(modelLists.vllm, '--all', '--write')
    assert.equal(status, 1)
    assert.match(stderr, /must be a list with each "- id:" in its own line[^]*\n- id: Qwen\/Qwen3-8B\n/)
    assert.equal(await readFile(file, 'utf8'), flow)
  })

  test('a file that changed while the upstream was asked', async () => {
    await writeFile(file, configured)
    server.answer({ ...modelLists.vllm, 'GET /v1/models': 'hangs' })
    const importing = tollgateHere(['model', 'import', url, '--all', '--write'], environment())
    await until(() => server.held.length > 0)
    const changed = `${configured}currency: EUR\n`
    await writeFile(file, changed)
    server.answer(modelLists.vllm)
    const { status, stderr } = await importing
    assert.equal(status, 1)
    assert.match(stderr, /was changed in the meantime, so nothing was written/)
    assert.equal(await readFile(file, 'utf8'), changed)
  })

  test('a command line that does not fit together', async () => {
    for (const args of [['--all'], ['--write'], ['--all', '--model', 'm', '--write'], ['--key-env', 'sk-secret']]) {
      const { status, stderr } = await run(modelLists.vllm, ...args)
      assert.equal(status, 2, args.join(' '))
      assert.doesNotMatch(stderr, /sk-secret/)
    }
    assert.deepEqual(server.asked, [])
  })
})
