import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { at, type Json, valuesOf } from '../support/json.ts'
import { fixture } from '../support/fixture.ts'
import { gifOf, jpegOf, lossyWebpOf, pdfOf, pngOf } from '../support/sample-files.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
const service = fixture(() =>
  startService({
    models: [
      upstreamModel(vendor.url),
      upstreamModel(vendor.url, { id: 'text', capabilities: ['documents'] }),
      upstreamModel(vendor.url, { id: 'gpt', upstream_model: 'gpt-4o' }),
    ],
  }),
)

const base64 = (bytes: Buffer) => bytes.toString('base64')
const urlOf = (mediaType: string, bytes: Buffer) => `data:${mediaType};base64,${base64(bytes)}`

const images = {
  'image/png': pngOf(20, 10),
  'image/jpeg': jpegOf(20, 10),
  'image/gif': gifOf(20, 10),
  'image/webp': lossyWebpOf(20, 10),
} as const
const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
const pdf = pdfOf(2, { compressed: true })
const question = { type: 'text', text: 'What is it?' } as const

/** What the vendor must receive, whatever the dialect of the caller. */
const sentImage = (mediaType: string, bytes: Buffer, detail: object = {}) => ({
  type: 'image_url',
  image_url: { url: urlOf(mediaType, bytes), ...detail },
})
const sentClosely = (type: (typeof types)[number]) => sentImage(type, images[type], { detail: 'high' })
const sentPdf = { type: 'file', file: { filename: 'report.pdf', file_data: urlOf('application/pdf', pdf) } }

const lastMessages = () => at(vendor.last.body, 'messages')

const asking = (...blocks: Anthropic.ContentBlockParam[]) => ({
  model: 'fast',
  messages: [{ role: 'user' as const, content: [question, ...blocks] }],
})

const blockOf = (bytes: Buffer) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: base64(bytes) },
})
const chat = (...content: Json[]): Json => ({ messages: [{ role: 'user', content }] })

describe('images and documents', () => {
  it("reach the vendor unchanged from OpenAI's client, and cost what it reports", async () => {
    const { accountId, key } = await service.customer()
    const client = new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 })
    const pictures = types.map((type) => ({
      type: 'image_url' as const,
      image_url: { url: urlOf(type, images[type]), detail: 'low' as const },
    }))
    const report = { type: 'file', file: { filename: 'report.pdf', file_data: urlOf('application/pdf', pdf) } } as const
    const { choices } = await client.chat.completions.create({
      model: 'fast',
      max_tokens: 100,
      messages: [{ role: 'user', content: [question, ...pictures, report] }],
    })
    assert.equal(choices[0]?.message.content, 'Hello there.')
    const sent = types.map((type) => sentImage(type, images[type], { detail: 'low' }))
    assert.deepEqual(lastMessages(), [{ role: 'user', content: [question, ...sent, sentPdf] }])
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.map((row) => [row.inputTokens, row.outputTokens]), holds], [[[12, 3]], 0])
  })

  it("reach the vendor unchanged from OpenAI's client in responses, even from a call", async () => {
    const { accountId, key } = await service.customer()
    const client = new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 })
    const picture = (type: (typeof types)[number]) =>
      ({ type: 'input_image', image_url: urlOf(type, images[type]), detail: 'high' }) as const
    const report = { type: 'input_file', filename: 'report.pdf', file_data: urlOf('application/pdf', pdf) } as const
    const asked = { type: 'input_text', text: 'What is it?' } as const
    const { output_text } = await client.responses.create({
      model: 'fast',
      input: [
        { role: 'user', content: [picture('image/webp'), { type: 'input_text', text: '' }] },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: [picture('image/gif')] },
        { role: 'user', content: [asked, picture('image/png'), report] },
        { role: 'user', content: [asked, picture('image/jpeg')] },
      ],
    })
    assert.equal(output_text, 'Hello there.')
    const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }]
    assert.deepEqual(lastMessages(), [
      { role: 'user', content: [sentClosely('image/webp')] },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', content: '' },
      { role: 'user', content: [sentClosely('image/gif'), question, sentClosely('image/png'), sentPdf] },
      { role: 'user', content: [question, sentClosely('image/jpeg')] },
    ])
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.map((row) => [row.inputTokens, row.outputTokens]), holds], [[[12, 3]], 0])
  })

  it("reach the vendor unchanged from Anthropic's client, in the form of the vendor", async () => {
    const { accountId, key } = await service.customer()
    const client = new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 })
    const picture = (type: (typeof types)[number]) => ({
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: type, data: base64(images[type]) },
    })
    const stream = client.messages.stream({
      model: 'fast',
      max_tokens: 100,
      messages: [
        { role: 'user', content: [question] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'Seen.' }, picture('image/gif')] },
            picture('image/png'),
            {
              type: 'document',
              title: 'report.pdf',
              citations: { enabled: false },
              source: { type: 'base64', media_type: 'application/pdf', data: base64(pdf) },
            },
            { type: 'document', title: 'Note', source: { type: 'text', media_type: 'text/plain', data: 'Grüße' } },
          ],
        },
      ],
    })
    assert.equal(await stream.finalText(), 'Hello there.')
    assert.deepEqual(at(lastMessages(), 2), { role: 'tool', tool_call_id: 'a', content: 'Seen.' })
    assert.deepEqual(at(lastMessages(), 3), {
      role: 'user',
      content: [
        sentImage('image/gif', images['image/gif']),
        sentImage('image/png', images['image/png']),
        sentPdf,
        { type: 'text', text: 'Note\n\nGrüße' },
      ],
    })
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [1, 0])
  })

  it('are counted and held by the rule for their size', async () => {
    const { accountId, key } = await service.customer({ credit: 60_000_000n })
    const client = new Anthropic({ apiKey: key, baseURL: service.url, maxRetries: 0 })
    const large = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: base64(pngOf(1024, 1024)) },
    } as const
    const [without, counted] = [
      await client.messages.countTokens(asking()),
      await client.messages.countTokens(asking(large)),
    ]
    // The model's name says nothing of its vendor: a token for each square of 28 pixels.
    assert.equal(counted.input_tokens - without.input_tokens, 37 * 37)
    // A token costs 150 000 of the 10⁻¹² units, so the credit is for less than 400 tokens.
    await assert.rejects(client.messages.create({ ...asking(large), max_tokens: 10 }), { status: 402 })
    assert.equal((await service.books(accountId)).holds, 0)
    assert.equal((await client.messages.create({ ...asking(), max_tokens: 10 })).usage.input_tokens, 12)
  })

  it('are counted by the rule of the vendor that the name of the model shows', async () => {
    const { key } = await service.customer()
    const count = async (...content: Json[]) => {
      const answer = await service.call('/v1/messages/count_tokens', key, {
        model: 'gpt',
        ...chat(question, ...content),
      })
      return Number(answer.json['input_tokens'])
    }
    const text = await count()
    assert.equal((await count(blockOf(pngOf(1024, 1024)))) - text, 765)
    const report = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: base64(pdf) } }
    assert.equal((await count(report)) - text, 2 * (3000 + 85 + 6 * 170))
  })

  it('are charged by the same rule if the vendor reports no usage', async () => {
    const { accountId, key } = await service.customer()
    const ask = (...content: Json[]) =>
      service.call('/v1/messages', key, { model: 'fast', max_tokens: 10, ...chat(question, ...content) })
    vendor.set({ usage: null })
    const answers = [await ask(), await ask(blockOf(pngOf(1024, 1024)))]
    vendor.set({})
    assert.deepEqual(valuesOf(answers, 'status'), [200, 200])
    const { rows } = await service.books(accountId)
    const [withImage = 0, without = 0] = rows.map(({ inputTokens }) => inputTokens).toSorted((a, b) => b - a)
    assert.equal(withImage - without, 37 * 37)
  })

  it('are never logged, whether they are served, refused, or fail at the vendor', async () => {
    const { key } = await service.customer()
    const secret = randomBytes(300)
    const whole = pngOf(20, 10, secret)
    const ask = (bytes: Buffer) =>
      service.call('/v1/messages', key, { model: 'fast', max_tokens: 10, ...chat(question, blockOf(bytes)) })
    const [served, refused] = [await ask(whole), await ask(whole.subarray(0, -20))]
    vendor.set({ fault: 'server_error' })
    const failed = await ask(whole)
    vendor.set({})
    assert.deepEqual([served.status, refused.status, failed.status], [200, 400, 502])
    const text = base64(whole)
    for (const { text: answer } of [served, refused, failed]) assert.ok(!answer.includes(text.slice(100, 120)))
    assert.ok(service.logText().includes(String(failed.headers.get('request-id'))))
    assert.ok(!service.logText().includes(text.slice(100, 120)))
  })

  it('may be larger than the rest of a request, which has its own limit', async () => {
    const { accountId, key } = await service.customer()
    const picture = sentImage('image/png', pngOf(20, 10, randomBytes(3_000_000)))
    const ask = (text: string) =>
      service.call('/v1/chat/completions', key, {
        model: 'fast',
        max_tokens: 10,
        messages: [{ role: 'user', content: [picture, { type: 'text', text }] }],
      })
    const served = await ask('What is it?')
    assert.equal(served.status, 200, served.text)
    assert.deepEqual(at(lastMessages(), 0, 'content', 0), picture)
    const refused = await ask('x'.repeat(1_048_576))
    assert.deepEqual([refused.status, refused.error['code']], [413, 'request_too_large'])
    assert.match(String(refused.error['message']), /without its images and documents, is larger than 1048576 bytes/)
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [1, 0])
  })

  it('leave no room for more text than a request may have, which is refused before it is parsed', async () => {
    const { accountId, key } = await service.customer()
    const picture = sentImage('image/png', pngOf(20, 10, randomBytes(30_000)))
    const quoted = { type: 'text', text: '"\\\\"'.repeat(100_000) }
    const served = await service.call('/v1/chat/completions', key, {
      model: 'fast',
      max_tokens: 10,
      messages: [{ role: 'user', content: [...Array.from({ length: 90 }, () => picture), quoted] }],
    })
    assert.equal(served.status, 200, served.text)
    // None of these is JSON.
    for (const text of ['['.repeat(3e6), '0,'.repeat(1.5e6), '"",'.repeat(1e6), `"${'\\\\\\"'.repeat(1e6)}`]) {
      for (const address of ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/messages/count_tokens']) {
        const refused = await service.call(address, key, `{"messages":${text}`)
        assert.equal(refused.status, 413, refused.text)
        assert.match(refused.text, /without its images and documents is larger than 1048576 bytes/)
      }
    }
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [1, 0])
  })

  it('are a part of what an idempotency key stands for', async () => {
    const { accountId, key } = await service.customer()
    const ask = (bytes: Buffer) =>
      service.call(
        '/v1/chat/completions',
        key,
        { model: 'fast', messages: [{ role: 'user', content: [sentImage('image/png', bytes)] }] },
        { 'idempotency-key': 'one' },
      )
    const [first, again, other] = [await ask(pngOf(1, 1)), await ask(pngOf(1, 1)), await ask(pngOf(2, 1))]
    assert.deepEqual([first.status, again.text, other.error['code']], [200, first.text, 'idempotency_mismatch'])
    assert.equal((await service.books(accountId)).rows.length, 1)
  })
})

const png = images['image/png']
const imageUrl = (url: unknown, more: Json = {}): Json => ({ type: 'image_url', image_url: { url, ...more } })
const file = (more: Json): Json => ({ type: 'file', file: more })
const source = (type: string, more: Json, block = 'image'): Json => chat({ type: block, source: { type, ...more } })
const inBase64 = (media_type: unknown, data: unknown, block = 'image') => source('base64', { media_type, data }, block)

const input = (...content: Json[]): Json => ({ max_tokens: undefined, input: [{ role: 'user', content }] })
const inputImage = (image_url: unknown, more: Json = {}) => input({ type: 'input_image', image_url, ...more })
const inputFile = (more: Json) => input({ type: 'input_file', ...more })

const [chatUrl, messagesUrl, responsesUrl] = ['/v1/chat/completions', '/v1/messages', '/v1/responses']
const url = 'messages[0].content[0].image_url.url'
const data = 'messages[0].content[0].source.data'
const encrypted = pdfOf(2, { compressed: true })
encrypted.fill(7, encrypted.indexOf('stream\r\n') + 8, encrypted.indexOf('endstream'))

/** Files that cannot be sent on, with the field that the refusal names and what it says. */
const refused: Readonly<Record<string, readonly (readonly [body: Json, field: string, reason: RegExp])[]>> = {
  [chatUrl]: [
    [chat(imageUrl('https://example.com/a.png')), url, /nothing is fetched/],
    [chat(imageUrl('HTTP://127.0.0.1/')), url, /nothing is fetched/],
    [chat(imageUrl('file:///etc/passwd')), url, /a data URL such as/],
    [chat(imageUrl('data:image/png,abc')), url, /a data URL such as/],
    [chat(imageUrl(5)), url, /a data URL such as/],
    [chat(imageUrl('data:image/svg+xml;base64,PHN2Zz4=')), url, /of type image\/png/],
    [chat(imageUrl(urlOf('application/pdf', pdf))), url, /of type image\/png/],
    [chat(imageUrl(urlOf('image/png', images['image/jpeg']))), url, /a complete PNG/],
    [chat(imageUrl(urlOf('image/webp', png))), url, /a complete WebP/],
    [chat(imageUrl(urlOf('image/png', png.subarray(0, 60)))), url, /a complete PNG/],
    [chat(imageUrl(urlOf('image/gif', gifOf(0, 10)))), url, /a complete GIF/],
    [chat(imageUrl(urlOf('image/png', pngOf(8001, 1)))), url, /8000 by 8000/],
    [chat(imageUrl(urlOf('image/png', pngOf(1, 1, randomBytes(6e6))))), url, /an image of at most 5 MiB/],
    [chat(imageUrl(`data:image/png;base64, ${base64(png)}`)), url, /in base64/],
    [chat(imageUrl('data:image/png;base64,_-_-')), url, /in base64/],
    [chat(imageUrl('data:image/png;base64,')), url, /in base64/],
    [chat(imageUrl(urlOf('image/png', png), { detail: 'most' })), `${url.slice(0, -4)}.detail`, /low, high/],
    [chat({ type: 'image_url', image_url: 'x' }), url.slice(0, -4), /an object/],
    [chat(file({ file_id: 'file-1' })), 'messages[0].content[0].file.file_id', /no files are stored/],
    [chat(file({})), 'messages[0].content[0].file.file_data', /a data URL such as data:application\/pdf/],
    [
      chat(file({ file_data: urlOf('application/pdf', encrypted) })),
      'messages[0].content[0].file.file_data',
      /without a password/,
    ],
    [
      chat(file({ file_data: urlOf('application/pdf', pdfOf(601)) })),
      'messages[0].content[0].file.file_data',
      /600 pages/,
    ],
    [chat({ type: 'input_audio' }), 'messages[0].content[0].type', /image_url or file/],
    [
      {
        messages: [
          { role: 'system', content: [sentImage('image/png', png)] },
          { role: 'user', content: 'x' },
        ],
      },
      'messages[0].content[0].type',
      /only text/,
    ],
    [chat(...Array.from({ length: 101 }, () => imageUrl(urlOf('image/png', png)))), 'messages', /100 files/],
  ],
  [messagesUrl]: [
    [source('url', { url: 'https://example.com/a.png' }), 'messages[0].content[0].source.url', /nothing is fetched/],
    [source('file', { file_id: 'x' }), 'messages[0].content[0].source.type', /no files are stored/],
    [source('content', { content: [] }, 'document'), 'messages[0].content[0].source.type', /content is not supported/],
    [inBase64('image/tiff', base64(png)), 'messages[0].content[0].source.media_type', /of type image\/png/],
    [inBase64('image/png', undefined), data, /in base64/],
    [inBase64('image/jpeg', base64(jpegOf(2, 2).subarray(0, -2))), data, /a complete JPEG/],
    [inBase64('application/pdf', base64(png), 'document'), data, /a complete PDF/],
    [
      chat({
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'x' },
        citations: { enabled: true },
      }),
      'messages[0].content[0].citations',
      /not supported/,
    ],
    [
      {
        messages: [
          { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'a',
                content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' } }],
              },
            ],
          },
        ],
      },
      'messages[1].content[0].content[0].source.data',
      /a complete PNG/,
    ],
  ],
  [responsesUrl]: [
    [inputImage('https://x.example/'), 'input[0].content[0].image_url', /nothing is fetched/],
    [inputImage(undefined, { file_id: 'x' }), 'input[0].content[0].file_id', /no files/],
    [inputFile({ file_url: 'x' }), 'input[0].content[0].file_url', /nothing is fetched/],
    [inputFile({ file_id: 'x' }), 'input[0].content[0].file_id', /no files/],
    [inputImage(urlOf('image/png', png), { detail: 'original' }), 'input[0].content[0].detail', /low, high/],
    [inputImage(urlOf('image/png', pdf)), 'input[0].content[0].image_url', /a complete PNG/],
    [
      { ...input(), input: [{ role: 'system', content: [{ type: 'input_image', image_url: 'x' }] }] },
      'input[0].content[0].type',
      /no other part/,
    ],
    [input({ type: 'input_audio' }), 'input[0].content[0].type', /input_image or input_file: no other/],
    [
      input(...Array.from({ length: 101 }, () => ({ type: 'input_image', image_url: urlOf('image/png', png) }))),
      'input',
      /100 files/,
    ],
  ],
}

describe('images and documents that cannot be sent on', () => {
  const cases = Object.entries(refused).flatMap(([address, rows]) => rows.map((row) => [address, ...row] as const))
  for (const [address, body, field, reason] of cases) {
    it(`${address}: the refusal names ${field}, says ${reason.source}, and nothing is held`, async () => {
      const { accountId, key } = await service.customer()
      const calls = vendor.calls
      const answer = await service.call(address, key, { model: 'fast', max_tokens: 10, ...body })
      const said = String(answer.error['message'])
      assert.equal(answer.status, 400, answer.text)
      assert.ok(said.includes(` ${field} `), said)
      assert.match(said, reason)
      assert.ok(said.length < 300 && !said.includes(base64(png).slice(0, 12)), 'it does not quote the file')
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds, vendor.calls], [0, 0, calls])
    })
  }

  it('no page of a PDF is counted for an account that could not pay', async () => {
    const poor = await service.customer({ credit: 0n })
    const small = await service.customer({ tokensPerMinute: 5 })
    const busy = await service.customer({ requestsPerMinute: 1 })
    const rich = await service.customer()
    const broken = chat(file({ file_data: urlOf('application/pdf', encrypted) }))
    const ask = (key: string, more: object = {}) =>
      service.call(chatUrl, key, { model: 'fast', max_tokens: 10, ...broken, ...more })
    assert.equal(
      (await service.call('/v1/count_tokens', busy.key, { model: 'fast', input: 'x', max_output_tokens: 1 })).status,
      200,
    )
    const answers = [
      await ask(poor.key),
      await ask(poor.key, { stream: true }),
      await ask(small.key),
      await ask(busy.key),
      await service.call('/v1/messages/count_tokens', busy.key, {
        model: 'fast',
        ...inBase64('application/pdf', base64(encrypted), 'document'),
      }),
      await ask(rich.key),
    ]
    assert.deepEqual(
      answers.map(({ status, error }) => [status, error['code'] ?? error['type']]),
      [
        [402, 'insufficient_credit'],
        [402, 'insufficient_credit'],
        [400, 'can_never_fit_limit'],
        [429, 'rate_limit_exceeded'],
        [429, 'rate_limit_error'],
        [400, 'invalid_field'],
      ],
    )
    for (const { accountId } of [poor, small, busy, rich]) {
      const { rows, holds } = await service.books(accountId)
      assert.deepEqual([rows.length, holds], [0, 0])
    }
  })

  it('a model that cannot see refuses an image by its field, and reads a document', async () => {
    const { accountId, key } = await service.customer()
    const ask = (...content: Json[]) =>
      service.call(chatUrl, key, { model: 'text', max_tokens: 10, ...chat(...content) })
    const blind = await ask(question, imageUrl(urlOf('image/png', png)))
    assert.deepEqual([blind.status, blind.error['param']], [400, 'messages[0].content[1].image_url.url'])
    assert.match(String(blind.error['message']), /text does not support images/)
    assert.equal((await service.books(accountId)).rows.length, 0)
    assert.equal((await ask(file({ file_data: urlOf('application/pdf', pdf) }))).status, 200)
  })

  for (const address of [chatUrl, responsesUrl, messagesUrl, '/v1/messages/count_tokens']) {
    it(`${address} refuses an image of 30 MB with 413`, async () => {
      const { accountId, key } = await service.customer()
      const huge = base64(Buffer.alloc(30_000_000))
      const dataUrl = `data:image/png;base64,${huge}`
      const ofOpenAi = address === chatUrl ? chat(imageUrl(dataUrl)) : inputImage(dataUrl)
      const body = address.startsWith(messagesUrl) ? inBase64('image/png', huge) : ofOpenAi
      const answer = await service.call(address, key, { model: 'fast', max_tokens: 10, ...body })
      assert.equal(answer.status, 413, answer.text)
      assert.match(answer.text, /larger than 17825792 bytes/)
      assert.equal((await service.books(accountId)).holds, 0)
    })
  }
})
