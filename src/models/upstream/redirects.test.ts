import assert from 'node:assert/strict'
import { after, afterEach, beforeEach, describe, test } from 'node:test'
import { isEndure } from '../../../tests/support/draws.ts'
import { serve } from '../../../tests/support/server.ts'
import { createModels, failure, modelOptions } from '../../../tests/support/vendor-run.ts'
import { createCountingThread, createTokenizer } from '../tokenizer/tokenizer.ts'
import type { Model } from '../model.ts'
import { loadProviders } from './ai-sdk/provider.ts'
import { createAiSdkModel } from './ai-sdk/ai-sdk.ts'

let [status, target] = [307, '']
let asked = 0
const elsewhere: string[] = []
const vendor = await serve((_, response) => {
  asked += 1
  response.writeHead(status, { location: target }).end()
})
/** Another origin: the same host with another port. */
const other = await serve((request, response) => {
  elsewhere.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`)
  response.end('{}')
})

const models = createModels()
const packages = ['@ai-sdk/openai', '@ai-sdk/openai-compatible', '@ai-sdk/anthropic']
const providers = await loadProviders(packages)
const url = `${vendor.url}/v1`
const key = 'sk-secret-of-the-upstream'

const engines = new Map<string, () => Model>([
  ['openai', () => models.openAi({ endpoints: [{ url, key }] })],
  ...packages.map((name): [string, () => Model] => {
    const provider = providers.get(name)
    assert(provider)
    const options = { ...modelOptions, id: 'careful', package: name, provider, url, key, log: models.log }
    return [`ai-sdk with ${name}`, () => models.keep(createAiSdkModel(options))]
  }),
])

beforeEach(() => {
  asked = 0
  elsewhere.length = 0
})
afterEach(() => models.close())
after(() => Promise.all([vendor.close(), other.close()]))

const targets = [`${other.url}/v1/chat/completions`, other.url.replace('http:', ''), 'http://127.0.0.1:1/']

for (const [engine, open] of engines) {
  describe(`a redirect of the vendor's server is not followed by ${engine}`, () => {
    for (const code of isEndure ? [301, 302, 303, 307, 308] : [302, 307]) {
      for (const stream of isEndure ? [false, true] : [code === 307]) {
        test(`${code}${stream ? ', in a stream' : ''}: the key does not reach another host`, async () => {
          for (const place of targets) {
            ;[status, target] = [code, place]
            const problem = await failure(open(), { stream })
            assert.equal(problem.code, 'upstream_failed')
            assert.doesNotMatch(problem.message + models.lines.join(''), /sk-secret/)
          }
          assert.ok(asked >= targets.length, 'the vendor got requests')
          assert.deepEqual(elsewhere, [])
        })
      }
    }
  })
}

for (const setting of ['vllm', 'llama-server', 'anthropic']) {
  test(`nor by the count of ${setting}`, async () => {
    ;[status, target] = [307, `${other.url}/tokenize`]
    const thread = createCountingThread()
    const tokenizer = createTokenizer({
      setting,
      margin: 0,
      upstreamModel: 'm',
      sendsSignatures: false,
      endpoints: [{ url, key }],
      connect: 10_000,
      thread,
      log: models.log,
    })
    await tokenizer.count({ messages: [{ role: 'user', text: 'Hello' }] })
    await tokenizer.close()
    assert.ok(asked > 0)
    assert.deepEqual(elsewhere, [])
  })
}
