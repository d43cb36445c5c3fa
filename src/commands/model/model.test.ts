import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { tollgateHere } from '../../../tests/support/command-line.ts'
import { smallEmbedder, writeEmbeddingModel } from '../../../tests/support/embedding-model.ts'
import { tinyFile } from '../../../tests/support/engine.ts'
import { objectAt, parseObject } from '../../../tests/support/json.ts'
import { serve } from '../../../tests/support/server.ts'
import { loadConfig } from '../../platform/config/config.ts'
import { runCommand } from '../run.ts'
import { temporaryFolder } from '../../../tests/support/fixture.ts'

const folder = temporaryFolder()
const environment = { TOLLGATE_DATA: folder }
const model = await readFile(tinyFile)
const embedder = path.join(folder, 'embedder.gguf')
await writeEmbeddingModel(embedder)
const asked: (string | undefined)[] = []
const server = await serve((request, response) => {
  asked.push(request.headers.authorization)
  if (request.url === '/My%20Model.gguf' || request.url?.endsWith('/none.gguf')) response.writeHead(404).end()
  else if (request.url === '/Embedder.gguf') createReadStream(embedder).pipe(response)
  else response.writeHead(200, { 'content-length': model.length }).end(model)
})
const base = server.url
after(() => server.close())

const run = (...args: readonly string[]) => tollgateHere(args, environment)

test('model pull stores the file in the data folder and prints its configuration', async () => {
  const { status, stdout, stderr } = await run('model', 'pull', `${base}/Small-Model.gguf`)
  assert.deepEqual([status, stderr.split('\n').at(-2)], [0, 'Small-Model.gguf: 8.7 MB of 8.7 MB (100 %)'])
  const file = path.join(folder, 'models', 'Small-Model.gguf')
  assert.ok(model.equals(await readFile(file)))
  // The output is a valid configuration.
  const written = path.join(folder, 'tollgate.yaml')
  await writeFile(written, stdout.slice(stdout.indexOf('models:\n'), stdout.indexOf('A list of models')))
  const { models } = loadConfig({ environment: { TOLLGATE_CONFIG: written }, root: folder })
  assert.deepEqual(
    models.map((each) => [each.id, each.context, 'file' in each && each.file]),
    [['small-model', 1024, file]],
  )
})

test('model pull prints the configuration of an embedding model', async () => {
  const { status, stdout } = await run('model', 'pull', `${base}/Embedder.gguf`)
  assert.equal(status, 0)
  assert.match(stdout, /It is a bert model of embeddings, trained for 128 tokens\.\n\n/)
  const written = path.join(folder, 'embeddings.yaml')
  await writeFile(written, stdout.slice(stdout.indexOf('models:\n'), stdout.indexOf('A list of models')))
  const { models } = loadConfig({ environment: { TOLLGATE_CONFIG: written }, root: folder })
  assert.partialDeepStrictEqual(models, [{ id: 'embedder', kind: 'embeddings', context: 128 }])
})

test('model pull as JSON, to a given path, with a token', async () => {
  const [place, token] = [path.join(folder, 'there.gguf'), path.join(folder, 'token')]
  await writeFile(token, 'hf_word\n')
  const { status, stdout } = await run(
    'model',
    'pull',
    `${base}/x.gguf`,
    '--to',
    place,
    '--token-file',
    token,
    '--json',
  )
  assert.equal(status, 0)
  const said = parseObject(stdout)
  assert.deepEqual([said['file'], said['bytes'], said['checksum_compared_with']], [place, model.length, null])
  assert.equal(objectAt(said, 'settings')['id'], 'there')
  assert.equal(asked.at(-1), 'Bearer hf_word')
})

test('model pull draws a bar on a terminal', async () => {
  const stderr = Object.assign(new PassThrough(), { isTTY: true })
  const stdout = new PassThrough()
  const args = ['model', 'pull', `${base}/bar.gguf`, '--to', `${folder}/`]
  const status = await runCommand(args, {
    environment,
    root: path.resolve(import.meta.dirname, '../../..'),
    stdout,
    stderr,
  })
  stderr.end()
  const drawn = await text(stderr)
  assert.equal(status, 0)
  assert.match(drawn, /\rbar\.gguf {2}\[#{24}\] 100 % {2}8\.7 MB of 8\.7 MB {2}[\d.]+ [kMG]B\/s +\n$/)
  assert.ok(drawn.split('\r').length < 50, 'the bar is drawn too often')
})

test('model pull refuses a bad source, checksum or token file in one line', async () => {
  for (const [args, reason] of [
    [[`${base}/none.gguf`], /has no such file/],
    [[`${base}/x.gguf`, '--sha256', '0'.repeat(64)], /instead of 0{64}/],
    [[`${base}/x.gguf`, '--token-file', path.join(folder, 'nothing')], /contains no access token/],
    ...(process.platform === 'linux'
      ? ([[[`${base}/x.gguf`, '--to', '/proc/tollgate/'], /No permission to write to \/proc\/tollgate/]] as const)
      : []),
  ] as const) {
    const { status, stdout, stderr } = await run('model', 'pull', ...args)
    assert.deepEqual([status, stdout], [1, ''])
    assert.match(stderr.trim().split('\n').at(-1) ?? '', reason)
  }
  for (const args of [[], ['m.gguf'], ['http://example.com/m.gguf'], [`${base}/x.gguf`, '--sha256', 'abc']]) {
    const { status, stdout } = await run('model', 'pull', ...args)
    assert.deepEqual([status, stdout], [2, ''], args.join(' '))
  }
})

test('model check loads the file and reports its speed', async () => {
  const { status, stdout } = await run('model', 'check', tinyFile)
  assert.equal(status, 0)
  assert.match(stdout, /Architecture +llama\n.*\nContext +1024 tokens/)
  assert.match(stdout, /Writing a reply +\d+ tokens\/s/)
})

test('model check reports how fast an embedding model reads', async () => {
  const { status, stdout } = await run('model', 'check', embedder)
  assert.equal(status, 0)
  assert.match(stdout, /embedder\.gguf can be used\.\n[^]*Makes +embeddings: set kind: embeddings for it\n/)
  assert.match(stdout, /Reading texts +\d+ tokens\/s\nVectors +of 64 numbers\n/)
  const said = parseObject((await run('model', 'check', embedder, '--json')).stdout)
  assert.deepEqual([said['ok'], said['kind'], said['speed']], [true, 'embeddings', null])
  const { tokens_per_second: speed, vector_length: length } = objectAt(said, 'embedding')
  assert.ok(Number(speed) > 10)
  assert.equal(length, smallEmbedder.width)
})

test('model check says that a reranker cannot be served', async () => {
  const file = path.join(folder, 'reranker.gguf')
  await writeEmbeddingModel(file, smallEmbedder, [['bert.pooling_type', 4]])
  const { stdout } = await run('model', 'check', file)
  assert.match(stdout, /reranker\.gguf cannot be served: it ranks texts\./)
})

test('model check refuses a file that cannot be loaded', async () => {
  const { status, stdout, stderr } = await run('model', 'check', import.meta.filename)
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, /^The model file .* is not a GGUF file\.\n$/)
})
