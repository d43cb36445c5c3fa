import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Answer } from '../support/answer.ts'
import { at, objectAt } from '../support/json.ts'
import { openVendorService } from '../support/vendor-service.ts'
import { createGate } from '../support/gate.ts'
import { setUp } from '../support/fixture.ts'
import { until } from '../support/until.ts'

const valid = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

let counted: number
const { vendor, service } = openVendorService()
setUp(async () => {
  const answer = await service.call('/v1/count_tokens', (await service.customer()).key, valid)
  counted = Number(answer.json['input_tokens'])
})

/** The rate-limit headers as numbers: limit, remaining, reset. */
function level(answer: Answer, what: 'requests' | 'tokens'): [number, number, number] {
  const read = (part: string) => {
    const value = answer.headers.get(`x-ratelimit-${part}-${what}`)
    assert.match(String(value), /^\d+$/)
    return Number(value)
  }
  return [read('limit'), read('remaining'), read('reset')]
}

describe('limits', () => {
  it('A42 a request without a maximum gets the tokens that its limits leave, and is refused if they leave none', async () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    // Its bytes and those of a chat template.
    const promptTokens = 5 + 16 + 128
    for (const stream of [false, true]) {
      for (const [room, expected] of [
        [50, 200],
        [0, 400],
      ] as const) {
        const { key } = await service.customer({ tokensPerMinute: promptTokens + room })
        const calls = vendor.calls
        const answer = await service.call('/v1/chat/completions', key, { model: 'fast', messages, stream })
        assert.equal(answer.status, expected, answer.text)
        if (expected === 200) assert.equal(at(vendor.last.body, 'max_tokens'), room)
        else assert.deepEqual([answer.error['param'], vendor.calls], ['messages', calls])
      }
    }
  })

  it('A25 the remaining tokens fall by what was taken and rise by what was given back', async () => {
    const limit = 60_000
    const gate = createGate()
    const { accountId, key } = await service.customer({ requestsPerMinute: 60, tokensPerMinute: limit })
    vendor.set({ gate: gate.pass, usage: { prompt_tokens: counted, completion_tokens: 1 } })
    const pending = service.call('/v1/generate', key, { ...valid, max_output_tokens: 4000 })
    await until(async () => (await service.books(accountId)).holds === 1)
    const during = await service.call('/v1/models', key)
    gate.open()
    const answer = await pending
    vendor.set({})

    const taken = counted + 4000
    const [most, left, reset] = level(during, 'tokens')
    assert.equal(most, limit)
    // The bucket refills by 1000 tokens a second meanwhile.
    assert.ok(left >= limit - taken && left < limit, `${left} left`)
    assert.ok(reset === Math.ceil((limit - left) / 1000), `whole in ${reset} s with ${left} left`)
    const [mostRequests, requestsLeft] = level(during, 'requests')
    assert.equal(mostRequests, 60)
    assert.ok(requestsLeft >= 59, `${requestsLeft} left`)

    const [, leftAfter] = level(answer, 'tokens')
    assert.ok(leftAfter >= limit - counted - 1 && leftAfter <= limit, `${leftAfter} left after the answer`)
    assert.equal(level(answer, 'requests')[0], 60)
  })

  it('A25 a failed request gives its tokens back, but still counts as a request', async () => {
    // One request refills every minute.
    const { key } = await service.customer({ requestsPerMinute: 1, tokensPerMinute: 60_000 })
    vendor.set({ fault: 'server_error' })
    const failed = await service.call('/v1/generate', key, { ...valid, max_output_tokens: 4000 })
    vendor.set({})
    assert.equal(failed.status, 502)
    assert.deepEqual(level(failed, 'tokens'), [60_000, 60_000, 0])
    const [limit, left, reset] = level(failed, 'requests')
    assert.deepEqual([limit, left], [1, 0])
    assert.ok(reset > 0 && reset <= 60, `${reset} s`)
    const invalid = await service.call('/v1/generate', key, { ...valid, input: '' })
    assert.deepEqual(level(invalid, 'requests').slice(0, 2), [1, 0])
  })

  it('A23 a refusal states the limit, its value and Retry-After, and waiting that long is enough', async () => {
    const { accountId, key } = await service.customer({ requestsPerMinute: 120, tokensPerMinute: 60_000 })
    vendor.set({ usage: { prompt_tokens: 20_000, completion_tokens: 0 } })
    const large = { ...valid, input: 'x'.repeat(20_000), max_output_tokens: 1000 }
    let served = 0
    let refused = await service.call('/v1/generate', key, large)
    // Further requests fit if the bucket refills in the meantime.
    for (; refused.status === 200; served++) refused = await service.call('/v1/generate', key, large)
    assert.ok(served >= 2, `${served} served`)
    assert.deepEqual([refused.status, refused.error['code']], [429, 'rate_limit_exceeded'])
    const limit = objectAt(refused.error, 'limit')
    assert.deepEqual([limit['name'], limit['value']], ['tokens_per_minute', 60_000])
    assert.equal(limit['remaining'], level(refused, 'tokens')[1])
    assert.match(String(refused.error['reason']), /tokens per minute/)
    assert.equal(refused.headers.get('x-should-retry'), 'true')
    const wait = Number(refused.headers.get('retry-after'))
    assert.ok(wait >= 1 && wait <= 22, `wait ${wait}`)
    assert.equal((await service.books(accountId)).rows.length, served)
    await new Promise((resolve) => setTimeout(resolve, wait * 1000))
    assert.equal((await service.call('/v1/generate', key, large)).status, 200)
    vendor.set({})
  })
})
