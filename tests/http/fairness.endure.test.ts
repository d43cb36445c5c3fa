import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fixture, setUp } from '../support/fixture.ts'
import { shippedModel, startService } from '../support/service.ts'
import { until } from '../support/until.ts'

const service = fixture(() => startService({ models: [shippedModel({ parallel: 1 })] }))
setUp(() => service.untilReady())

const body = { model: 'tiny', input: 'Tell a long story.', temperature: 1, max_output_tokens: 200 }

it("one account's flood does not starve another on the local engine's queue", async () => {
  const [loud, quiet] = [await service.customer(), await service.customer()]
  const over = new AbortController()
  let [served, refused] = [0, 0]
  // Twelve at a time, while one runs and four wait: the queue is always full.
  const flood = Array.from({ length: 12 }, async () => {
    while (!over.signal.aborted) {
      const { status } = await service.call('/v1/generate', loud.key, body)
      if (status === 200) served++
      else refused++
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 5))
    }
  })
  await until(() => refused > 0 && served > 1)
  // The first call loads the key.
  assert.equal((await service.call('/v1/count_tokens', quiet.key, body)).status, 200)
  const overtaken: number[] = []
  for (let round = 0; round < 8; round++) {
    const servedBefore = served
    const { status, text } = await service.call('/v1/generate', quiet.key, body)
    assert.equal(status, 200, text)
    overtaken.push(served - servedBefore)
  }
  over.abort()
  await Promise.all(flood)
  // The request that ran and, if the turn was the other account's, one more; sometimes others, before it was queued.
  const [median = Infinity] = overtaken.toSorted((one, other) => one - other).slice(overtaken.length / 2)
  assert.ok(median <= 3, String(overtaken))
  assert.ok(served > 8, 'the other goes on, too')
  assert.equal((await service.books(quiet.accountId)).rows.length, 8)
  assert.equal((await service.books(loud.accountId)).rows.length, served)
})
