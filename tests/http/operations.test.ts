import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chown, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { problems } from '../../src/platform/problems.ts'
import { version } from '../../src/platform/version.ts'
import { at, objectAt } from '../support/json.ts'
import { patience } from '../support/database.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { createTestDatabase, superuserAddress } from '../support/database.ts'
import { fixture } from '../support/fixture.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'

const exec = promisify(execFile)

const vendor = fixture(() => startVendor())
const service = fixture(() => startService({ models: [upstreamModel(vendor.url)], metricsToken: 'metrics-token' }))

const codesOf = (response: unknown): unknown[] =>
  [
    at(response, 'content', 'application/json', 'schema', 'properties', 'error', 'properties', 'code', 'enum') ?? [],
  ].flat()

describe('the OpenAPI document', () => {
  it('is OpenAPI 3.1 and describes every URL of the API and of the records', async () => {
    const answer = await service.call('/openapi.json', undefined)
    assert.match(String(answer.headers.get('content-type')), /^application\/json/)
    assert.equal(answer.json['openapi'], '3.1.0')
    const paths = objectAt(answer.json, 'paths')
    assert.ok('/clients/{client}' in paths)
    assert.deepEqual(
      Object.keys(paths)
        .filter((path) => path.startsWith('/v1/'))
        .map((path) => [path, Object.keys(objectAt(paths, path))]),
      [
        ['/v1/generate', ['post']],
        ['/v1/chat/completions', ['post']],
        ['/v1/responses', ['post']],
        ['/v1/messages', ['post']],
        ['/v1/embeddings', ['post']],
        ['/v1/count_tokens', ['post']],
        ['/v1/messages/count_tokens', ['post']],
        ['/v1/models', ['get']],
        ['/v1/models/{id}', ['get']],
        ['/v1/usage', ['get']],
        ['/v1/requests/{id}', ['get']],
        ['/v1/account', ['get']],
        ['/v1/files', ['get', 'post']],
        ['/v1/files/{id}', ['get', 'delete']],
        ['/v1/files/{id}/content', ['get']],
        ['/v1/batches', ['post', 'get']],
        ['/v1/batches/{id}', ['get']],
        ['/v1/batches/{id}/cancel', ['post']],
        ['/v1/messages/batches', ['get', 'post']],
        ['/v1/messages/batches/{id}', ['get', 'delete']],
        ['/v1/messages/batches/{id}/cancel', ['post']],
        ['/v1/messages/batches/{id}/results', ['get']],
      ],
    )
    const generate = objectAt(paths, '/v1/generate', 'post')
    assert.deepEqual(generate['security'], [{ apiKey: [] }])
    const [header, ...more] = [at(generate, 'parameters')].flat()
    assert.deepEqual([at(header, 'name'), at(header, 'in'), more], ['Idempotency-Key', 'header', []])
    const body = objectAt(generate, 'requestBody', 'content', 'application/json', 'schema')
    assert.deepEqual(body['required'], ['model', 'input', 'max_output_tokens'])
    assert.equal(body['additionalProperties'], false)
    const reply = objectAt(generate, 'responses', '200')
    const fields = objectAt(reply, 'content', 'application/json', 'schema', 'properties')
    assert.deepEqual(Object.keys(fields), ['output_text', 'stop_reason', 'usage'])
    assert.ok('x-ratelimit-remaining-tokens' in objectAt(reply, 'headers'))
  })

  it('describes the refusals of each dialect in its own format', async () => {
    const { json } = await service.call('/openapi.json', undefined)
    const fieldsOf = (address: string) => {
      const refusal = objectAt(json, 'paths', address, 'post', 'responses', '429')
      assert.ok(
        'x-ratelimit-remaining-tokens' in objectAt(json, 'paths', address, 'post', 'responses', '200', 'headers'),
      )
      assert.match(String(refusal['description']), /rate_limit_exceeded/)
      const body = objectAt(refusal, 'content', 'application/json', 'schema', 'properties')
      return [Object.keys(body), Object.keys(objectAt(body, 'error', 'properties'))]
    }
    const openAi = [['error'], ['message', 'type', 'param', 'code']]
    assert.deepEqual(fieldsOf('/v1/chat/completions'), openAi)
    assert.deepEqual(fieldsOf('/v1/responses'), openAi)
    assert.deepEqual(fieldsOf('/v1/messages'), [
      ['type', 'error', 'request_id'],
      ['type', 'message', 'details'],
    ])
  })

  it('lists the codes of every status, and no code under a wrong status', async () => {
    const { json } = await service.call('/openapi.json', undefined)
    const responses = objectAt(json, 'paths', '/v1/generate', 'post', 'responses')
    const named = Object.entries(responses).flatMap(([status, response]) =>
      codesOf(response).map((code) => (typeof code === 'string' ? `${code} ${status}` : 'no text')),
    )
    const portal =
      'sign_in_failed 400,not_signed_in 401,forbidden 403,cross_site_request 403,sign_in_refused 403,' +
      'recent_sign_in_required 403,conflict 409,stale_version 412,precondition_required 428,too_many_sign_ins 429,' +
      'provider_failed 502,sms_failed 502'
    const elsewhere = ['not_found 404', 'method_not_allowed 405', ...portal.split(',')]
    const all = Object.entries(problems).map(([code, { status }]) => `${code} ${status}`)
    assert.deepEqual(named.toSorted(), all.filter((each) => !elsewhere.includes(each)).toSorted())
  })
})

describe('the health endpoints', () => {
  it('/healthz reports that the process runs, /readyz what is ready', async () => {
    const health = await service.call('/healthz', undefined)
    assert.deepEqual([health.status, health.json], [200, { status: 'ok', version }])
    const ready = await service.call('/readyz', undefined)
    assert.deepEqual(
      [ready.status, ready.json],
      [200, { ready: true, checks: { database: true, models: { fast: true } } }],
    )
  })
})

describe('/metrics', () => {
  it('returns the counters to a caller with the token', async () => {
    const { key } = await service.customer()
    const body = { model: 'fast', input: 'Hello', max_output_tokens: 5 }
    // The second is a replay, whose tokens are not charged again.
    for (const _ of [1, 2]) await service.call('/v1/generate', key, body, { 'idempotency-key': 'k' })
    await service.call('/v1/generate', key, { ...body, input: '' })
    const refused = [await service.call('/metrics', key), await service.call('/metrics', undefined)]
    assert.deepEqual(
      refused.map(({ status, error }) => [status, error['code']]),
      [
        [401, 'invalid_key'],
        [401, 'missing_key'],
      ],
    )
    const { text } = await service.call('/metrics', 'metrics-token')
    const count = (labels: string) =>
      new RegExp(`request_seconds_count\\{method="POST",${labels}\\} (\\d+)`).exec(text)?.[1]
    assert.equal(count('route="/v1/generate",status="200",code="none"'), '2')
    assert.equal(count('route="/v1/generate",status="400",code="invalid_field"'), '1')
    assert.match(text, /tollgate_tokens_total\{model="fast",direction="input"\} 12\n/)
    assert.match(text, /tollgate_tokens_total\{model="fast",direction="output"\} 3\n/)
    assert.match(text, /tollgate_model_ready\{model="fast"\} 1\n/)
  })
})

describe('A37 a database that accepts no writes', () => {
  it('makes /readyz 503 while it is read-only, and 200 afterwards', async () => {
    const other = await startService({ models: [upstreamModel(vendor.url)] })
    const name = new URL(other.databaseUrl).pathname.slice(1)
    const readOnly = async (state: 'on' | 'off') => {
      await service.database.rows(`alter database ${name} set default_transaction_read_only = ${state}`)
      await endConnections(name)
    }
    const isReady = async () => (await other.call('/readyz', undefined)).status
    for (const _ of [1, 2]) assert.equal(await isReady(), 200)
    await readOnly('on')
    await until(async () => (await isReady()) === 503)
    const ready = await other.call('/readyz', undefined)
    assert.deepEqual(ready.json, { ready: false, checks: { database: false, models: { fast: true } } })
    assert.ok(Number(ready.headers.get('retry-after')) >= 1)
    await readOnly('off')
    await until(async () => (await isReady()) === 200)
    for (const path of ['/healthz', '/readyz']) await other.call(path, undefined)
    await other.close()
    const logged = other.logText().match(/"route":"\/(?:healthz|readyz)","status":\d+/g)
    assert.deepEqual(logged, ['"route":"/readyz","status":503', '"route":"/readyz","status":200'])
  })

  it(
    'makes /readyz 503 while the disk is full',
    { skip: canMount() ? false : 'it takes root to mount a disk' },
    async () => {
      const disk = await mkdtemp(join(tmpdir(), 'tollgate-disk-'))
      await exec('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=0777', 'tmpfs', disk])
      const [data] = await onServer<{ folder: string }>(`select current_setting('data_directory') as folder`)
      const owner = await stat(data?.folder ?? assert.fail())
      await chown(disk, owner.uid, owner.gid)
      const fresh = await createTestDatabase({ empty: true })
      const name = new URL(fresh.url).pathname.slice(1)
      try {
        await onServer(`create tablespace small_${name} location '${disk}'`)
        await onServer(`alter database ${name} set tablespace small_${name}`)
        await using other = await startService({ models: [upstreamModel(vendor.url)], databaseUrl: fresh.url })
        const isReady = async () => (await other.call('/readyz', undefined)).status
        assert.equal(await isReady(), 200)
        const filler = join(disk, 'filler')
        await exec('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k']).catch(() => undefined)
        assert.equal(await isReady(), 503)
        await rm(filler)
        await until(async () => (await isReady()) === 200)
      } finally {
        await fresh.drop()
        await onServer(`drop tablespace if exists small_${name}`)
        await exec('umount', [disk])
        await rm(disk, { recursive: true })
      }
    },
  )
})

/** Runs a statement that takes a superuser and no transaction. */
async function onServer<Row extends object>(statement: string): Promise<Row[]> {
  const client = new Client(await superuserAddress('postgres'))
  await client.connect()
  try {
    return (await client.query<Row>(statement)).rows
  } finally {
    await client.end()
  }
}

async function endConnections(name: string): Promise<void> {
  await onServer(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
}

/** Whether this user can mount a file system. */
function canMount(): boolean {
  return process.platform === 'linux' && process.getuid?.() === 0
}

describe('an unreachable database', () => {
  it('is 503 with Retry-After, never 401 or a reply, and /readyz reports it', async () => {
    // A caller waits in vain, which need not take as long as a busy machine may.
    const shorter = { ...patience, callerPatience: 10_000 }
    await using other = await startService({ models: [upstreamModel(vendor.url)], patience: shorter })
    const { key } = await other.customer()
    const body = { model: 'fast', input: 'Hello', max_output_tokens: 5 }
    assert.equal((await other.call('/v1/generate', key, body)).status, 200)
    const calls = vendor.calls
    const name = new URL(other.databaseUrl).pathname.slice(1)
    const allow = (yes: boolean) => service.database.rows(`alter database ${name} with allow_connections ${yes}`)
    await allow(false)
    await endConnections(name)
    try {
      const answer = await other.call('/v1/generate', key, body)
      assert.deepEqual([answer.status, answer.error['code']], [503, 'unavailable'])
      assert.ok(Number(answer.headers.get('retry-after')) >= 1)
      assert.equal(vendor.calls, calls)
      const ready = await other.call('/readyz', undefined)
      assert.deepEqual([ready.status, at(ready.json, 'checks', 'database')], [503, false])
      assert.equal((await other.call('/healthz', undefined)).status, 200)
    } finally {
      await allow(true)
    }
    assert.equal((await other.call('/v1/generate', key, body)).status, 200)
  })
})
