import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { readEvents } from '../support/events.ts'
import { createGate } from '../support/gate.ts'
import { fixture } from '../support/fixture.ts'
import { installRefusals } from '../support/refusals.ts'
import { startService, upstreamModel, type Customer } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

// Replies whose charge the database refuses although it is available.

const vendor = fixture(() => startVendor({ text: 'Well. Good.' }))
const service = fixture(() => startService({ models: [upstreamModel(vendor.url)] }))
const refusals = fixture(() => installRefusals(service.database))
beforeEach(() => refusals.accept())

function post({ key }: Customer, more: object): Promise<Response> {
  return service.post('/v1/generate', key, { model: 'fast', input: 'Hello', max_output_tokens: 10, ...more })
}

for (const usage of [
  { name: 'as held', prompt_tokens: 3, completion_tokens: 2 },
  { name: 'beyond the hold', prompt_tokens: 5000, completion_tokens: 2 },
]) {
  const { name, ...reported } = usage

  test(`a stream with tokens ${name} ends with an error, and is charged once the database accepts the charge`, async () => {
    const customer = await service.customer()
    const gate = createGate()
    gate.open(1)
    vendor.set({ text: 'Well. Good.', usage: reported, gate: gate.pass })
    const response = await post(customer, { stream: true })
    await refusals.refuse('23514', 1000)
    gate.open()
    for await (const { data } of readEvents(response)) {
      if (data.includes('"error"')) assert.match(data, /internal/)
      assert.doesNotMatch(data, /"stop_reason":"complete"|refused|23514/)
    }
    assert.deepEqual((await service.books(customer.accountId)).rows, [])
    await refusals.accept()
    await until(async () => (await service.books(customer.accountId)).holds === 0)
    const { rows, held, charged } = await service.books(customer.accountId)
    assert.deepEqual(
      rows.map(({ inputTokens, outputTokens }) => [inputTokens, outputTokens]),
      [[reported.prompt_tokens, reported.completion_tokens]],
    )
    assert.equal(charged, rows[0]?.cost)
    assert.equal(held, 0n)
  })

  test(`a whole reply with tokens ${name} is refused, and never charged`, async () => {
    const customer = await service.customer()
    vendor.set({ text: 'Well. Good.', usage: reported })
    // The first insert is the hold.
    await service.database.rows('alter table hold disable trigger refuse')
    await refusals.refuse('23514', 1000)
    const response = await post(customer, {})
    assert.equal(response.status, 500)
    assert.doesNotMatch(await response.text(), /Well|refused|23514/)
    await service.database.rows('alter table hold enable trigger refuse')
    await refusals.accept()
    const { rows, holds, held, charged } = await service.books(customer.accountId)
    assert.deepEqual([rows, holds, held, charged], [[], 0, 0n, 0n])
  })
}
