import assert from 'node:assert/strict'
import path from 'node:path'
import { describe, it } from 'node:test'
import { writeEndlessModel } from '../support/engine.ts'
import { at } from '../support/json.ts'
import type { Answer } from '../support/answer.ts'
import { shippedModel, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { fixture, setUp, temporaryFolder } from '../support/fixture.ts'
import { ok } from '../support/answer.ts'

const prompt = { model: 'tiny', instructions: 'Summarise the note.', input: 'Anna met the client on Monday.' }

const file = path.join(temporaryFolder(), 'endless.gguf')
setUp(() => writeEndlessModel(file))
const service = fixture(() =>
  startService({
    models: [shippedModel(), shippedModel({ id: 'narrow', parallel: 1, file })],
    aliases: { default: 'tiny' },
  }),
)
const customer = fixture(() => service.customer())
setUp(() => service.untilReady())

const generate = (body: unknown) => service.call('/v1/generate', customer.key, body)
const tokens = (answer: Answer, direction: 'input' | 'output') =>
  Number(at(answer.json, 'usage', `${direction}_tokens`))

async function countOf(body: object): Promise<number> {
  const answer = ok(await service.call('/v1/count_tokens', customer.key, { max_output_tokens: 1, ...body }))
  return Number(answer.json['input_tokens'])
}

describe('a local model', () => {
  it('A1 replies, and the ledger has the tokens it counted', async () => {
    const answer = ok(await generate({ ...prompt, max_output_tokens: 64 }))
    assert.deepEqual(Object.keys(answer.json), ['output_text', 'stop_reason', 'usage'])
    const { rows } = await service.books(customer.accountId)
    const row = rows.find(({ requestId }) => requestId === answer.headers.get('request-id'))
    assert.deepEqual(
      [row?.inputTokens, row?.outputTokens, row?.usageSource],
      [tokens(answer, 'input'), tokens(answer, 'output'), 'model'],
    )
    const cost = BigInt(tokens(answer, 'input')) * 100_000n + BigInt(tokens(answer, 'output')) * 400_000n
    assert.equal(row?.cost, cost)
  })

  it('replies in the schema that a chat asks for, and refuses one that it cannot enforce', async () => {
    const schema = {
      type: 'object',
      properties: { topic: { type: 'string', maxLength: 20 }, urgent: { type: 'boolean' } },
      required: ['topic', 'urgent'],
      additionalProperties: false,
    }
    const messages = [{ role: 'user', content: prompt.input }]
    const chat = (asked: object) =>
      service.call('/v1/chat/completions', customer.key, {
        model: 'tiny',
        messages,
        max_tokens: 100,
        response_format: { type: 'json_schema', json_schema: { name: 'note', schema: asked } },
      })
    const answer = ok(await chat(schema))
    assert.equal(at(answer.json, 'choices', 0, 'finish_reason'), 'stop')
    const note: unknown = JSON.parse(String(at(answer.json, 'choices', 0, 'message', 'content')))
    assert.deepEqual([typeof at(note, 'topic'), typeof at(note, 'urgent')], ['string', 'boolean'])

    const books = await service.books(customer.accountId)
    const refusal = await chat({ type: 'object', properties: { topic: { type: 'string', pattern: '^a' } } })
    assert.deepEqual(
      [refusal.status, at(refusal.json, 'error', 'param')],
      [400, 'response_format.json_schema.schema.properties.topic.pattern'],
    )
    assert.deepEqual(await service.books(customer.accountId), books)
  })

  it('A5 refuses a prompt that does not fit its context, with both numbers, and never truncates silently', async () => {
    const body = { model: 'tiny', input: 'word '.repeat(300) }
    const counted = await countOf(body)
    const { rows } = await service.books(customer.accountId)
    const limited = await service.customer({ requestsPerMinute: 1 })
    const early = await service.call('/v1/generate', limited.key, { ...body, max_output_tokens: 512 })
    assert.equal(early.headers.get('x-ratelimit-remaining-requests'), '1', 'it was refused before it was admitted')
    const answer = await generate({ ...body, max_output_tokens: 512 })
    assert.deepEqual([answer.status, answer.error['code']], [400, 'context_length_exceeded'])
    for (const number of [counted, 512, 1024])
      assert.match(String(answer.error['reason']), new RegExp(`\\b${number}\\b`))
    const fitting = 1024 - counted
    assert.equal((await generate({ ...body, max_output_tokens: fitting + 1 })).status, 400)
    const exact = ok(await generate({ ...body, max_output_tokens: fitting }))
    assert.equal(tokens(exact, 'input'), counted)
    const now = await service.books(customer.accountId)
    assert.deepEqual([now.rows.length - rows.length, now.holds], [1, 0])
  })

  it('A12 refuses requests beyond its queue at once with Retry-After, and charges nothing for them', async () => {
    const { accountId, key } = await service.customer()
    const body = { ...prompt, model: 'narrow', max_output_tokens: 512 }
    const answers = await Promise.all(Array.from({ length: 12 }, () => service.call('/v1/generate', key, body)))
    const refused = answers.filter(({ status }) => status !== 200)
    // One runs and four wait; each that has finished by then makes room for another.
    assert.ok(refused.length > 0 && refused.length <= 7, `${refused.length} refused`)
    for (const answer of refused) {
      assert.deepEqual([answer.status, answer.error['code']], [503, 'overloaded'])
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
      assert.equal(answer.headers.get('x-should-retry'), 'true')
    }
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [answers.length - refused.length, 0])
  })

  it('A15 stops when its caller disconnects, and charges the tokens generated so far', async () => {
    const { accountId, key } = await service.customer()
    const controller = new AbortController()
    const response = await service.post(
      '/v1/generate',
      key,
      { ...prompt, temperature: 2, max_output_tokens: 512, stream: true },
      { signal: controller.signal },
    )
    // A caller who leaves before the first token is not charged.
    await response.body?.getReader().read()
    controller.abort()
    await until(async () => (await service.books(accountId)).holds === 0)
    const { rows } = await service.books(accountId)
    assert.equal(rows.length, 1)
    const [row] = rows
    assert.ok(row && row.outputTokens > 0)
    // At this temperature a reply may end early.
    if (row.stopReason === 'cancelled') assert.ok(row.outputTokens < 512)
    else assert.equal(row.stopReason, 'complete')
  })
})
