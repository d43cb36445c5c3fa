import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

const question = { input: 'Hello', max_output_tokens: 100 }
const careful = (url: string, changes: object = {}) =>
  upstreamModel('', {
    id: 'careful',
    engine: 'ai-sdk',
    package: '@ai-sdk/anthropic',
    endpoints: undefined,
    key: 'sk-secret',
    url,
    ...changes,
  })

describe('models behind upstreams', () => {
  const vendor = fixture(() => startVendor())
  const service = fixture(() => startService({ models: [upstreamModel(vendor.url), careful(vendor.url)] }))

  for (const model of ['fast', 'careful']) {
    it(`A13 ${model}: a failure before the first token is retried and charged once`, async () => {
      vendor.set({ fault: 'server_error', times: 2 })
      const { accountId, key } = await service.customer()
      const answer = await service.call('/v1/generate', key, { model, ...question })
      assert.equal(answer.status, 200, answer.text)
      assert.deepEqual(answer.json['usage'], { input_tokens: 12, output_tokens: 3 })
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, rows[0]?.usageSource, holds], [1, 'upstream', 0])
      vendor.set({})
    })
  }
})

describe('a provider package that is not installed', () => {
  it('fails the start with the command to run', async () => {
    const models = [careful('http://127.0.0.1:9/v1', { package: '@ai-sdk/nowhere' })]
    await assert.rejects(startService({ models }), {
      name: 'OperatorError',
      message: 'models: the package @ai-sdk/nowhere is not installed: run npm install --no-save @ai-sdk/nowhere',
    })
  })
})
