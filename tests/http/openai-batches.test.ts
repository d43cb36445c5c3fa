import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import OpenAI, { toFile } from 'openai'
import { byService } from '../../src/access/actor.ts'
import { verifyBatches } from '../../src/batches/verify.ts'
import { batchLine } from '../support/batches.ts'
import { fixture } from '../support/fixture.ts'
import { createGate } from '../support/gate.ts'
import { at, parseObject } from '../support/json.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { startEmbeddingVendor } from '../support/vendor-embeddings.ts'
import { assertVerified } from '../support/verified.ts'

const vendor = fixture(() => startVendor())
const embedder = fixture(() => startEmbeddingVendor())
const service = fixture(() =>
  startService({
    models: [
      upstreamModel(vendor.url),
      upstreamModel(vendor.url, {
        id: 'tiered',
        price: {
          input: '0.15',
          output: '0.60',
          service_tiers: { batch: { factor: '0.5' }, priority: { factor: '2' } },
        },
      }),
      upstreamModel(embedder.url, {
        id: 'embed',
        kind: 'embeddings',
        max_output_tokens: undefined,
        price: { input: '0.02' },
      }),
    ],
    // An account leaves one place to others.
    limits: { batch_requests: 5, batch_in_flight: 3 },
  }),
)

const clientOf = (key: string) => new OpenAI({ apiKey: key, baseURL: `${service.url}/v1`, maxRetries: 0 })

async function upload(client: OpenAI, lines: readonly string[]) {
  return client.files.create({ file: await toFile(Buffer.from(lines.join('\n')), 'ü.jsonl'), purpose: 'batch' })
}

type Endpoint = OpenAI.Batches.BatchCreateParams['endpoint']

async function create(client: OpenAI, lines: readonly string[], endpoint: Endpoint = '/v1/chat/completions') {
  const { id: input_file_id } = await upload(client, lines)
  return client.batches.create({ input_file_id, endpoint, completion_window: '24h' })
}

/** The batch once it has ended. */
async function ended(client: OpenAI, id: string): Promise<OpenAI.Batches.Batch> {
  let batch = await client.batches.retrieve(id)
  await until(async () => {
    batch = await client.batches.retrieve(id)
    return ['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)
  })
  return batch
}

async function linesOf(client: OpenAI, id: string | null | undefined) {
  const text = await (await client.files.content(id ?? '')).text()
  assert.ok(text.endsWith('\n'))
  return text.trimEnd().split('\n').map(parseObject)
}

/** Every text of the tables of batches and of stored replies, as the database has it. */
async function storedTexts(): Promise<string> {
  const rows = await service.database.rows<{ text: string }>(
    `select encode(content, 'escape') as text from batch_file_line union all select encode(coalesce(content, result), 'escape') from batch_line
     union all select encode(name, 'escape') from batch_file union all select encode(metadata, 'escape') from batch where metadata is not null
     union all select errors::text from batch where errors is not null union all select body from idempotency where body is not null`,
  )
  return rows.map(({ text }) => text).join('\n')
}

const statusOf = (work: Promise<unknown>): Promise<number | undefined> =>
  work.then(
    () => 200,
    (error: unknown) => {
      assert.ok(error instanceof OpenAI.APIError)
      return Number(error.status)
    },
  )

/** Queues five lines of which the vendor keeps two waiting: as many as the instance runs at a time. */
async function beginFive() {
  const customer = await service.customer()
  const client = clientOf(customer.key)
  const gate = createGate()
  vendor.set({ gate: gate.pass })
  const { id } = await create(
    client,
    ['a', 'b', 'c', 'd', 'e'].map((name) => batchLine(name)),
  )
  await until(async () => (await service.books(customer.accountId)).holds === 2)
  const release = (): void => {
    vendor.set({})
    gate.open()
  }
  return { ...customer, client, id, release }
}

async function assertTwoOfFive({ client, id, accountId }: Awaited<ReturnType<typeof beginFive>>, code: string) {
  const batch = await ended(client, id)
  assert.deepEqual(batch.request_counts, { total: 5, completed: 2, failed: 3 })
  assert.equal((await service.books(accountId)).rows.length, 2)
  assert.equal((await linesOf(client, batch.output_file_id)).length, 2)
  const errors = await linesOf(client, batch.error_file_id)
  const { bytes } = await client.files.retrieve(batch.error_file_id ?? '')
  assert.equal(bytes, Buffer.byteLength(await (await client.files.content(batch.error_file_id ?? '')).text()))
  assert.deepEqual(
    errors.map((line) => [line['custom_id'], line['response'], at(line, 'error', 'code')]),
    ['c', 'd', 'e'].map((name) => [name, null, code]),
  )
  return batch
}

describe("OpenAI's batches", () => {
  it('have a reply for every line of a file, each charged once', async () => {
    const { accountId, key } = await service.customer()
    const client = clientOf(key)
    const calls = vendor.calls
    const file = await upload(client, [batchLine('a'), '', batchLine('ß-private'), batchLine('c')])
    assert.deepEqual([file.object, file.filename, file.purpose], ['file', 'ü.jsonl', 'batch'])
    const begun = await client.batches.create({
      input_file_id: file.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      metadata: { project: 'private project' },
    })
    assert.deepEqual([begun.status, begun.request_counts?.total], ['in_progress', 3])
    const batch = await ended(client, begun.id)
    assert.deepEqual([batch.status, batch.request_counts], ['completed', { total: 3, completed: 3, failed: 0 }])
    assert.deepEqual([batch.metadata, batch.error_file_id], [{ project: 'private project' }, null])
    const results = await linesOf(client, batch.output_file_id)
    assert.deepEqual(
      results.map((line) => [line['custom_id'], at(line, 'response', 'body', 'choices', 0, 'message', 'content')]),
      ['a', 'ß-private', 'c'].map((id) => [id, 'Hello there.']),
    )
    const { rows, holds, charged } = await service.books(accountId)
    assert.deepEqual([rows.length, holds, vendor.calls - calls], [3, 0, 3])
    assert.equal(charged, 3n * 3_600_000n)
    // A result names the request that was charged for it.
    assert.deepEqual(
      new Set(results.map((line) => at(line, 'response', 'request_id'))),
      new Set(rows.map(({ requestId }) => requestId)),
    )
    const { filename, bytes } = await client.files.retrieve(batch.output_file_id ?? '')
    assert.match(filename, /^batch_[\w-]+_output\.jsonl$/)
    assert.equal(bytes, Buffer.byteLength(await (await client.files.content(batch.output_file_id ?? '')).text()))
    const texts = await storedTexts()
    for (const text of ['private', 'Hello', 'jsonl']) assert.ok(!texts.includes(text), `${text} is stored as it is`)
    assert.ok(!/private|Hello|jsonl/.test(service.logText()))
    assertVerified(await verifyBatches(service.database))
  })

  it('make responses and embeddings, too', async () => {
    const { accountId, key } = await service.customer()
    const client = clientOf(key)
    const response = batchLine(
      'r',
      { messages: undefined, max_tokens: undefined, input: 'Hello' },
      { url: '/v1/responses' },
    )
    const embedding = batchLine(
      'e',
      { model: 'embed', messages: undefined, max_tokens: undefined, input: ['One', 'Two'] },
      { url: '/v1/embeddings' },
    )
    const batches = [
      await create(client, [response], '/v1/responses'),
      await create(client, [embedding], '/v1/embeddings'),
    ]
    const [ofResponse, ofEmbedding] = await Promise.all(
      batches.map(async ({ id }) => linesOf(client, (await ended(client, id)).output_file_id)),
    )
    assert.equal(at(ofResponse?.[0], 'response', 'body', 'object'), 'response')
    assert.equal(at(ofEmbedding?.[0], 'response', 'body', 'data', 1, 'index'), 1)
    assert.equal((await service.books(accountId)).rows.length, 2)
  })

  it('cost what the service tier batch of their model says, and other requests do not', async () => {
    const { accountId, key } = await service.customer()
    const client = clientOf(key)
    await ended(client, (await create(client, [batchLine('a', { model: 'tiered' })])).id)
    assert.equal((await service.books(accountId)).charged, 1_800_000n)
    const messages = [{ role: 'user' as const, content: 'Hello' }]
    await client.chat.completions.create({ model: 'tiered', messages, max_tokens: 10 })
    assert.equal((await service.books(accountId)).charged, 1_800_000n + 3_600_000n)
  })

  it('name lines that their model refuses, uncharged, and go on', async () => {
    const { accountId, key } = await service.customer({ tokensPerMinute: 1000 })
    const client = clientOf(key)
    const long = batchLine('long', { max_tokens: 2000 })
    const batch = await ended(client, (await create(client, [long, batchLine('short')])).id)
    assert.deepEqual([batch.status, batch.request_counts], ['completed', { total: 2, completed: 1, failed: 1 }])
    const [error, ...others] = await linesOf(client, batch.error_file_id)
    assert.deepEqual(
      [
        others.length,
        error?.['custom_id'],
        at(error, 'response', 'status_code'),
        at(error, 'response', 'body', 'error', 'code'),
      ],
      [0, 'long', 400, 'can_never_fit_limit'],
    )
    assert.equal((await service.books(accountId)).rows.length, 1)
  })

  it('try a line three times whose upstream fails, and then name it, uncharged', async () => {
    const { accountId, key } = await service.customer()
    const client = clientOf(key)
    const calls = vendor.calls
    vendor.set({ fault: 'no_choices' })
    const batch = await ended(client, (await create(client, [batchLine('a')])).id)
    vendor.set({})
    const [error] = await linesOf(client, batch.error_file_id)
    assert.deepEqual(
      [at(error, 'response', 'status_code'), at(error, 'response', 'body', 'error', 'code')],
      [502, 'upstream_failed'],
    )
    const { rows, holds } = await service.books(accountId)
    assert.deepEqual([rows.length, holds], [0, 0])
    assert.ok(vendor.calls - calls >= 3)
  })

  it('belong to their account: its other keys see them, and the keys of others see nothing', async () => {
    const { accountId, key } = await service.customer()
    const owner = clientOf(key)
    const batch = await ended(owner, (await create(owner, [batchLine('a')])).id)
    const { key: sibling } = await service.keys.create(
      { accountId, name: 'other', allowedModels: null, expiresAt: null },
      byService,
    )
    assert.equal((await clientOf(sibling).batches.retrieve(batch.id)).id, batch.id)
    const stranger = clientOf((await service.customer()).key)
    const [input, output] = [batch.input_file_id, batch.output_file_id ?? '']
    const tries = [
      stranger.batches.retrieve(batch.id),
      stranger.batches.cancel(batch.id),
      stranger.files.retrieve(input),
      stranger.files.content(input),
      stranger.files.delete(input),
      stranger.files.retrieve(output),
      stranger.files.content(output),
      stranger.files.delete(output),
      stranger.batches.create({
        input_file_id: input,
        endpoint: '/v1/chat/completions',
        completion_window: '24h',
      }),
    ]
    assert.deepEqual(
      await Promise.all(tries.map(statusOf)),
      tries.map(() => 404),
    )
    assert.deepEqual([(await stranger.batches.list()).data, (await stranger.files.list()).data], [[], []])
    // The same batch in the other form is no batch either.
    assert.equal((await service.call(`/v1/messages/batches/${batch.id}`, key)).status, 404)
    assert.equal((await linesOf(owner, output)).length, 1)
  })

  it('are listed, the newest first, a page at a time', async () => {
    const { key } = await service.customer()
    const client = clientOf(key)
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.unshift((await create(client, [batchLine(name)])).id)
    const page = await client.batches.list({ limit: 2 })
    assert.deepEqual([page.data.map(({ id }) => id), page.has_more], [ids.slice(0, 2), true])
    const all: string[] = []
    for await (const { id } of client.batches.list({ limit: 2 })) all.push(id)
    assert.deepEqual(all, ids)
    const files: string[] = []
    for await (const { id } of client.files.list({ limit: 2 })) files.push(id)
    assert.equal(new Set(files).size, 3)
    for (const id of ids) await ended(client, id)
  })

  it('make what has begun when they are cancelled, and nothing more', async () => {
    const begun = await beginFive()
    assert.equal((await begun.client.batches.cancel(begun.id)).status, 'cancelling')
    begun.release()
    assert.equal((await assertTwoOfFive(begun, 'batch_cancelled')).status, 'cancelled')
    assert.equal((await begun.client.batches.cancel(begun.id)).status, 'cancelled')
  })

  it('end after 24 hours with what was made by then', async () => {
    const begun = await beginFive()
    await service.database.rows(`update batch set expires_at = now() - interval '1 minute' where account_id = $1`, [
      begun.accountId,
    ])
    begun.release()
    assert.equal((await assertTwoOfFive(begun, 'batch_expired')).status, 'expired')
  })

  it('end when their key is revoked, and say so', async () => {
    const begun = await beginFive()
    const { key } = await service.keys.create(
      { accountId: begun.accountId, name: 'other', allowedModels: null, expiresAt: null },
      byService,
    )
    await service.keys.revoke(begun.keyId, byService)
    await until(async () => (await service.call('/v1/account', begun.key)).status === 401)
    begun.release()
    const batch = await assertTwoOfFive({ ...begun, client: clientOf(key) }, 'batch_failed')
    assert.deepEqual([batch.status, batch.errors?.data?.[0]?.code], ['failed', 'revoked_key'])
  })

  it('end when their account is closed', async () => {
    const begun = await beginFive()
    await service.accounts.close(begun.accountId, byService)
    await until(async () => (await service.call('/v1/account', begun.key)).status === 402)
    begun.release()
    await until(async () => {
      const [row] = await service.database.rows<{ status: string }>('select status from batch where account_id = $1', [
        begun.accountId,
      ])
      return row?.status === 'failed'
    })
    assert.equal((await service.books(begun.accountId)).rows.length, 2)
  })

  it('keep results for a day after their download', async () => {
    const { key } = await service.customer()
    const client = clientOf(key)
    const batch = await ended(client, (await create(client, [batchLine('a')])).id)
    const output = batch.output_file_id ?? ''
    const kept = (await client.files.retrieve(output)).expires_at ?? 0
    assert.equal((await linesOf(client, output)).length, 1)
    await until(async () => kept - ((await client.files.retrieve(output)).expires_at ?? 0) > 20 * 86_400)
    // A second download, because the first may have got lost.
    assert.equal((await linesOf(client, output)).length, 1)
  })

  it('keep replies until they are downloaded, too, not only the errors', async () => {
    const { key } = await service.customer({ tokensPerMinute: 1000 })
    const client = clientOf(key)
    const long = batchLine('long', { max_tokens: 2000 })
    const batch = await ended(client, (await create(client, [long, batchLine('short')])).id)
    const [output, errors] = [batch.output_file_id ?? '', batch.error_file_id ?? '']
    const kept = (await client.files.retrieve(output)).expires_at
    assert.equal((await linesOf(client, errors)).length, 1)
    const isRead = (column: string) =>
      until(async () => {
        const [row] = await service.database.rows<{ read: boolean }>(
          `select ${column} as read from batch where error_id = $1`,
          [errors.replace(/^file-(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')],
        )
        return row?.read === true
      })
    await isRead('errors_read')
    assert.equal((await client.files.retrieve(output)).expires_at, kept)
    assert.equal((await linesOf(client, output)).length, 1)
    await isRead('output_read')
    await until(async () => ((await client.files.retrieve(output)).expires_at ?? 0) < (kept ?? 0))
  })

  it('lose a file or results that are deleted, and go on without their file', async () => {
    const { accountId, key } = await service.customer()
    const client = clientOf(key)
    const begun = await create(client, [batchLine('a')])
    assert.equal((await client.files.delete(begun.input_file_id)).deleted, true)
    assert.equal(await statusOf(client.files.retrieve(begun.input_file_id)), 404)
    const output = (await ended(client, begun.id)).output_file_id ?? ''
    assert.equal((await linesOf(client, output)).length, 1)
    await client.files.delete(output)
    assert.equal(await statusOf(client.files.content(output)), 404)
    assert.equal((await client.batches.retrieve(begun.id)).output_file_id, null)
    assert.deepEqual(
      await service.database.rows('select from batch_line l join batch b on b.id = batch_id where account_id = $1', [
        accountId,
      ]),
      [],
    )
    assert.equal((await service.books(accountId)).rows.length, 1)
  })
})

/** What is at fault, and the field or the reason that names it. */
const faults: readonly (readonly [
  fault: string,
  lines: readonly string[],
  line: number,
  param: string | null,
  reason: RegExp,
])[] = [
  ['a line that is no JSON', [batchLine('a'), '{'], 2, null, /not valid JSON/],
  ['a line that is no object', ['[]'], 1, null, /JSON object/],
  [
    'two equal custom ids',
    [batchLine('a'), '', batchLine('b'), batchLine('a')],
    4,
    'custom_id',
    /Line 1 has the same custom_id/,
  ],
  ['no custom id', [batchLine('a', {}, { custom_id: undefined })], 1, 'custom_id', /custom_id/],
  ['an unknown URL', [batchLine('a', {}, { url: '/v1/images' })], 1, 'url', /embeddings/],
  ['another URL than that of the batch', [batchLine('a', {}, { url: '/v1/responses' })], 1, 'url', /completions/],
  ['another method', [batchLine('a', {}, { method: 'GET' })], 1, 'method', /POST/],
  ['an unknown field', [batchLine('a', {}, { model: 'fast' })], 1, 'model', /custom_id, method/],
  ['no body', [batchLine('a', {}, { body: null })], 1, 'body', /JSON object/],
  ['an unknown model', [batchLine('a'), batchLine('b', { model: 'fsat' })], 2, 'body.model', /mean fast/],
  ['an unknown field of the body', [batchLine('a', { max_tokes: 1 })], 1, 'body.max_tokes', /no field/],
  [
    'a service tier',
    [batchLine('a', { model: 'tiered', service_tier: 'priority' })],
    1,
    'body.service_tier',
    /a service tier of its own/,
  ],
  ['a stream', [batchLine('a', { stream: true })], 1, 'body.stream', /omitted/],
  [
    'a body over the limit',
    [batchLine('a', { messages: [{ role: 'user', content: 'x'.repeat(1024 ** 2) }] })],
    1,
    'body',
    /1048576/,
  ],
  [
    'a client that an account may not name',
    [batchLine('a', { metadata: { client_id: crypto.randomUUID() } })],
    1,
    'body.metadata.client_id',
    /own/,
  ],
  [
    'more requests than a batch may have',
    ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => batchLine(name)),
    6,
    null,
    /at most 5/,
  ],
]

describe('a batch at fault', () => {
  for (const [fault, lines, line, param, reason] of faults) {
    it(`with ${fault} names the line and the field, and queues nothing`, async () => {
      const { accountId, key } = await service.customer()
      const batch = await create(clientOf(key), lines)
      const [found, ...others] = batch.errors?.data ?? []
      assert.deepEqual([batch.status, others.length, found?.line, found?.param], ['failed', 0, line, param])
      assert.match(found?.message ?? '', reason)
      const queued = await service.database.rows(
        'select from batch_line l join batch b on b.id = batch_id where account_id = $1',
        [accountId],
      )
      assert.deepEqual([queued.length, (await service.books(accountId)).rows.length], [0, 0])
    })
  }

  it('names every line at fault', async () => {
    const { key } = await service.customer()
    const batch = await create(clientOf(key), ['{', batchLine('a'), batchLine('a'), batchLine('b', { model: 'other' })])
    assert.deepEqual(
      batch.errors?.data?.map(({ line, code }) => [line, code]),
      [
        [1, 'malformed_json'],
        [3, 'invalid_field'],
        [4, 'unknown_model'],
      ],
    )
  })

  it('with an Idempotency-Key is refused, since a retry would create a second batch', async () => {
    const { accountId, key } = await service.customer()
    const client = clientOf(key)
    const { id: input_file_id } = await upload(client, [batchLine('a')])
    const asked = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const
    const headers = { 'idempotency-key': 'a' }
    await assert.rejects(client.batches.create(asked, { headers }), { status: 400, param: 'Idempotency-Key' })
    const messages = await service.call('/v1/messages/batches', key, { requests: [] }, headers)
    assert.match(String(at(messages.json, 'error', 'message')), /omit the header Idempotency-Key/)
    assert.deepEqual(await service.database.rows('select from batch where account_id = $1', [accountId]), [])
  })

  it('may not use a model that its key may not use', async () => {
    const { key } = await service.customer({}, { allowedModels: ['embed'] })
    const batch = await create(clientOf(key), [batchLine('a')])
    assert.deepEqual(
      [batch.errors?.data?.[0]?.code, batch.errors?.data?.[0]?.param],
      ['model_not_allowed', 'body.model'],
    )
  })
})

const send = async (parts: (form: FormData) => void, headers: Readonly<Record<string, string>> = {}) => {
  const { key } = await service.customer()
  const form = new FormData()
  parts(form)
  const response = await fetch(`${service.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: form,
  })
  return { status: response.status, error: parseObject(await response.text())['error'] }
}
const file = (form: FormData, content: string | Uint8Array<ArrayBuffer> = batchLine('a')) =>
  form.append('file', new Blob([content]), 'a.jsonl')

describe('an upload', () => {
  const cases: readonly (readonly [
    what: string,
    parts: (form: FormData) => void,
    status: number,
    param: string | null,
  ])[] = [
    ['no file', (form) => form.append('purpose', 'batch'), 400, 'file'],
    ['no purpose', (form) => file(form), 400, 'purpose'],
    [
      'two purposes',
      (form) => (['bat', 'ch'].forEach((part) => form.append('purpose', part)), file(form)),
      400,
      'purpose',
    ],
    ['two files', (form) => (form.append('purpose', 'batch'), file(form), file(form)), 400, 'file'],
    ['another purpose', (form) => (form.append('purpose', 'fine-tune'), file(form)), 400, 'purpose'],
    ['an unknown field', (form) => (form.append('purpose', 'batch'), form.append('x', '1'), file(form)), 400, 'x'],
    ['an empty file', (form) => (file(form, '\n \n'), form.append('purpose', 'batch')), 400, 'file'],
    [
      'a file that is not UTF-8',
      (form) => (file(form, new Uint8Array([0xff])), form.append('purpose', 'batch')),
      400,
      'file',
    ],
  ]
  for (const [what, parts, status, param] of cases) {
    it(`with ${what} is refused`, async () => {
      const refused = await send(parts)
      assert.deepEqual([refused.status, at(refused.error, 'param')], [status, param])
      assert.deepEqual(
        await service.database.rows('select from batch_file where uploaded_at is not null and lines = 0'),
        [],
      )
    })
  }

  it('that is no form is refused', async () => {
    const { key } = await service.customer()
    const { status, json } = await service.call('/v1/files', key, { purpose: 'batch' })
    assert.deepEqual([status, at(json, 'error', 'code')], [415, 'unsupported_media_type'])
  })
})
