import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { byService } from '../../src/access/actor.ts'
import { callsOf, type ApiCall } from '../../src/platform/docs/reference.ts'
import { exampleOf } from '../../src/platform/http/examples.ts'
import { isJsonObject } from '../../src/platform/text/json.ts'
import { problems } from '../../src/platform/problems.ts'
import { isEndure } from '../support/draws.ts'
import { at, objectAt, valuesOf } from '../support/json.ts'
import { shippedModel, startService, upstreamModel, type Service } from '../support/service.ts'
import { startEmbeddingVendor } from '../support/vendor-embeddings.ts'
import { fixture, setUp } from '../support/fixture.ts'

const root = path.join(import.meta.dirname, '../..')
const execute = promisify(execFile)

const vendor = fixture(() => startEmbeddingVendor())
const service = fixture(() => {
  const { max_output_tokens: _, ...called } = objectAt(upstreamModel(vendor.url, { id: 'embeddings' }))
  const embeddings = { ...called, kind: 'embeddings', price: { input: '0.02' } }
  return startService({ models: [shippedModel(), embeddings], aliases: { default: 'tiny' } })
})
let calls: readonly ApiCall[]
setUp(async () => {
  await service.untilReady()
  calls = callsOf((await service.call('/openapi.json', undefined)).json)
})

const opened = new Map<string, ReturnType<Service['call']>>()

/** A page, which is read once. */
async function open(url: string) {
  const reading = opened.get(url) ?? service.call(url, undefined)
  opened.set(url, reading)
  const page = await reading
  assert.equal(page.status, 200, url)
  return page
}

const plain = (html: string) => html.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

/** The programs of a page, by the language and library of each: `sh`, `python-openai`. */
const programsIn = (html: string) =>
  [...html.matchAll(/<figure data-language="([^"]+)"><figcaption>[^<]+<\/figcaption><pre[^>]*><code>([^<]+)</g)].map(
    ([, language = '', code = '']) => ({ language, source: plain(code) }),
  )

const urls = () => ['/docs', '/docs/clients', '/docs/errors', '/docs/api', ...calls.map(({ id }) => `/docs/api/${id}`)]

describe('the pages', () => {
  test('load nothing from elsewhere, and run only our own files', async () => {
    for (const url of urls()) {
      const page = await open(url)
      assert.match(String(page.headers.get('content-type')), /^text\/html/)
      const policy = String(page.headers.get('content-security-policy'))
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
      assert.doesNotMatch(policy, /unsafe|http|\*/)
      assert.doesNotMatch(page.text, /(?:src|href)="(?:https?:)?\/\/|<style|style="|\son\w+="/)
      for (const [, code] of page.text.matchAll(/<script[^>]*>([^]*?)<\/script>/g)) assert.equal(code, '')
    }
  })

  test('link only to pages and headings that exist', async () => {
    const pages = new Map<string, string>()
    for (const url of [...urls(), '/openapi.json', '/signin']) pages.set(url, (await open(url)).text)
    for (const [url, text] of pages) {
      for (const [, target = ''] of text.matchAll(/<a [^>]*?href="([^"]*)"/g)) {
        const [address = '', anchor] = target.replace(/\?.*$/, '').split('#')
        const linked = pages.get(address === '' ? url : address)
        assert.ok(linked !== undefined, `${url} links to ${target}`)
        if (anchor !== undefined) assert.ok(linked.includes(`id="${anchor}"`), `${url} links to ${target}`)
      }
    }
  })

  test('show no unrendered Markdown', async () => {
    for (const url of ['/docs', '/docs/clients']) {
      const { text } = await open(url)
      assert.doesNotMatch(text.replaceAll(/<pre[^]*?<\/pre>/g, ''), /\*\*|^#+ |^- |\]\(|^\||```/m)
    }
  })

  test('are revalidated, and their files are cached under the hash of their content', async () => {
    const page = await open('/docs')
    const tag = String(page.headers.get('etag'))
    assert.equal(page.headers.get('cache-control'), 'no-cache')
    const again = await service.call('/docs', undefined, undefined, { 'if-none-match': tag })
    assert.deepEqual([again.status, again.text], [304, ''])
    const files = [...page.text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(([, url = '']) => url)
    assert.equal(new Set(files).size, 3)
    for (const file of files) {
      const { status, headers } = await service.call(file, undefined)
      assert.deepEqual([status, headers.get('cache-control')], [200, 'public, max-age=31536000, immutable'], file)
    }
    assert.equal((await service.call('/docs/assets/none.js', undefined)).error['code'], 'not_found')
  })

  test('that do not exist are a page with the navigation for a reader, and an error for a program', async () => {
    for (const url of ['/docs/api/none', '/docs/quickstart', '/docs/quickstart?from=<b>', '/docs/api/']) {
      const page = await service.call(url, undefined, undefined, { accept: 'text/html' })
      assert.deepEqual(
        [page.status, page.headers.get('cache-control'), page.headers.get('etag')],
        [404, 'no-store', null],
      )
      assert.match(page.text, /<h1>Page not found<\/h1>/)
      for (const each of urls()) assert.ok(page.text.includes(`href="${each}"`), each)
      assert.doesNotMatch(page.text, /aria-current|from=/)
      const answer = await service.call(url, undefined)
      assert.deepEqual([answer.status, answer.error['code']], [404, 'not_found'])
    }
  })

  test('explain every error code at the URL in the error, with what to do', async () => {
    const { text } = await open('/docs/errors')
    for (const code of Object.keys(problems)) {
      assert.match(text, new RegExp(`id="${code}">[^]+?<strong>What to do:</strong> \\S`), code)
    }
    const answer = await service.call('/nowhere', undefined)
    assert.equal(answer.error['docs'], 'https://tollgate.test/docs/errors#not_found')
  })
})

describe('every operation', () => {
  test('has a page with its URL, its fields, its errors, and samples in three languages', async () => {
    assert.ok(calls.length > 70)
    assert.equal(new Set(calls.map(({ id }) => id)).size, calls.length)
    for (const call of calls) {
      const { text } = await open(`/docs/api/${call.id}`)
      assert.ok(plain(text.replaceAll('<wbr>', '')).includes(`<code>${call.path}</code>`), call.id)
      const languages = programsIn(text).map(({ language }) => language)
      for (const language of ['sh', 'javascript', 'python']) assert.ok(languages.includes(language), call.id)
      for (const name of Object.keys(objectAt(call.body?.schema, 'properties'))) {
        assert.ok(text.includes(`id="body.${name}"`), `${call.id}: ${name}`)
      }
      for (const code of call.errors) assert.ok(text.includes(`href="/docs/errors#${code}"`), `${call.id}: ${code}`)
    }
  })

  test('is in the list of all calls and in the navigation', async () => {
    for (const url of ['/docs/api', '/docs']) {
      const { text } = await open(url)
      for (const { id } of calls) assert.ok(text.includes(`href="/docs/api/${id}"`), id)
    }
  })

  test('has examples that match their schemas', () => {
    for (const { id, body, reply } of calls) {
      for (const content of [body, reply.body]) {
        if (content)
          assert.deepEqual(faultsIn(content.schema, content.example), [], `${id}: ${JSON.stringify(content)}`)
      }
    }
  })

  test('this check finds an example that does not match', () => {
    const generate = calls.find(({ id }) => id === 'generate')?.body
    assert.notDeepEqual(faultsIn(generate?.schema, { ...Object(generate?.example), stream: 'yes' }), [])
    assert.equal(exampleOf({ type: 'integer' }), 1)
  })
})

/** What is wrong with a value. The document is JSON, which typebox reads as a schema. */
function faultsIn(schema: unknown, value: unknown): unknown[] {
  assert.ok(isSchema(schema))
  return [...Compile(schema).Errors(value)]
}

function isSchema(schema: unknown): schema is TSchema {
  return isJsonObject(schema)
}

/** The operations of the API whose samples run here, and how many samples each page has for programs that run here. */
const running = {
  generate: 4,
  createChatCompletion: 6,
  createResponse: 6,
  createMessage: 6,
  createEmbedding: 3,
  countTokens: 2,
  countMessageTokens: 3,
  listModels: 3,
  retrieveModel: 3,
  getUsage: 2,
  getAccount: 2,
}

describe('the samples', () => {
  test('are tested for every operation of the API', () => {
    const tested = calls.filter(({ path: url }) => url.startsWith('/v1/')).map(({ id }) => id)
    // The requests, files and batches of their samples do not exist here.
    const ofBatches =
      'createFile listFiles retrieveFile downloadFile deleteFile createBatch listBatches retrieveBatch cancelBatch'
    const ofMessages =
      'createMessageBatch listMessageBatches retrieveMessageBatch cancelMessageBatch downloadMessageBatchResults deleteMessageBatch'
    const untested = ['getRequest', ...`${ofBatches} ${ofMessages}`.split(' ')]
    assert.deepEqual(tested.toSorted(), [...Object.keys(running), ...untested].toSorted())
  })

  // Each program is a process. Other tests prove that the official clients work with each API.
  const inTest = new Set(['generate', 'createMessage'])
  for (const [id, count] of Object.entries(running).filter(([each]) => isEndure || inTest.has(each))) {
    test(`A30 of ${id} run unchanged but for the URL, with curl and with Node`, async () => {
      const { key } = await service.customer()
      const programs = programsIn((await open(`/docs/api/${id}`)).text).filter(
        ({ language }) => !language.startsWith('python'),
      )
      assert.equal(programs.length, count)
      for (const { language, source } of programs) {
        const { stdout } = await run(language, source, key)
        assert.match(stdout, /ledger|tiny|input_tokens|^\d+\n$|I am only|requests_per_minute|prompt_tokens/, source)
        assert.doesNotMatch(stdout, /"error":\s*\{|error: \{/, source)
      }
    })
  }

  test('of the quickstart run too', async () => {
    const { key } = await service.customer()
    const programs = programsIn((await open('/docs')).text).filter(({ language }) => !language.startsWith('python'))
    assert.deepEqual(valuesOf(programs, 'language'), ['sh', 'javascript', 'javascript'])
    for (const { language, source } of programs) assert.match((await run(language, source, key)).stdout, /\S/)
  })

  test('fail if the key is refused', async () => {
    const [, program] = programsIn((await open('/docs/api/generate')).text)
    await assert.rejects(run('javascript', program?.source ?? '', 'tg_wrong'), /invalid_key/)
  })

  const hasPython = spawnSync('python3', ['--version']).status === 0
  test('in Python compile', { skip: hasPython ? false : 'python3 is not installed' }, async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'tollgate-docs-'))
    try {
      const files: string[] = []
      for (const url of ['/docs', ...calls.map(({ id }) => `/docs/api/${id}`)]) {
        const programs = programsIn((await open(url)).text).filter(({ language }) => language.startsWith('python'))
        assert.ok(programs.length > 0, url)
        for (const { source } of programs) {
          files.push(path.join(folder, `sample_${files.length}.py`))
          writeFileSync(files.at(-1) ?? '', source)
        }
      }
      await execute('python3', ['-m', 'py_compile', ...files])
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

function run(language: string, source: string, key: string, session = '') {
  // The Origin header keeps the public address.
  const program = source.replaceAll(/^(?!.*origin: ).*$/gim, (line) => line.replaceAll(service.baseUrl, service.url))
  const env = { PATH: process.env['PATH'] ?? '', TOLLGATE_KEY: key, TOLLGATE_SESSION: session }
  return language === 'sh'
    ? execute('sh', ['-ec', program], { env, timeout: 60_000 })
    : execute(process.execPath, ['--input-type=module', '--eval', program], { cwd: root, env, timeout: 60_000 })
}

describe('the samples of the portal', () => {
  test('run with the cookie of a session', async () => {
    const person = await service.people.create(
      {
        email: 'daniel@example.com',
        name: 'Daniel Osei',
        role: 'consultant',
      },
      byService,
    )
    const session = (await service.signIn(person)).replace('session=', '')
    const results = new Map<string, string>()
    for (const id of isEndure ? ['createClient', 'listClients', 'readMe'] : ['createClient', 'listClients']) {
      const programs = programsIn((await open(`/docs/api/${id}`)).text)
      for (const { language, source } of programs.filter((each) => each.language !== 'python')) {
        const { stdout } = await run(language, source.replace('PA-1031', language), '', session)
        results.set(`${id} ${language}`, stdout)
      }
    }
    for (const [name, output] of results) assert.match(output, /Harbour Lane Bakery|Daniel Osei/, name)
    assert.match(results.get('listClients sh') ?? '', /"total":2/)
  })
})

describe('the examples of responses', () => {
  test('have the fields that the service sends', async () => {
    const { key } = await service.customer()
    // The examples of usage and of the account show fields together that no single response has.
    const shown = calls.filter(({ tag }) => tag === 'Generation' || tag === 'Models')
    assert.equal(shown.length, 9)
    for (const call of shown) {
      const answer = await service.call(call.path.replace('{id}', 'default'), key, call.body?.example)
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(missingIn(answer.json, call.reply.body?.example), [], call.id)
    }
  })
})

/** The fields of an example, at any depth, that the value lacks or has with another type. */
function missingIn(value: unknown, example: unknown, place = ''): string[] {
  if (Array.isArray(example)) return missingIn(at(value, '0'), example[0], `${place}[]`)
  if (!isJsonObject(example)) return typeof value === typeof example ? [] : [place]
  return Object.entries(example).flatMap(([name, inner]) => missingIn(at(value, name), inner, `${place}.${name}`))
}
