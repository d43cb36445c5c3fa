import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { createServer } from './http/http.ts'

import { createMetrics, registerMetrics } from './metrics.ts'
import { fixture, setUp } from '../../tests/support/fixture.ts'

const log = pino({ level: 'silent' })
const needs = { log, requestBytes: 1024, baseUrl: 'https://tollgate.test' }

describe('/metrics', () => {
  const metrics = fixture(() => createMetrics())
  const server = fixture(() => createServer({ ...needs, onEnd: metrics.requestEnded }))
  setUp(async () => {
    metrics.watch('tollgate_requests_in_flight', 'Requests under way.', server.requestsInFlight)
    metrics.watchModels('tollgate_model_ready', 'Whether a model is ready.', () => ({ one: true, two: false }))
    registerMetrics(server, metrics.text, 'metrics-token')
    server.get('/things/:id', async () => ({}))
    await server.listen({ port: 0, host: '127.0.0.1' })
  })

  const get = (path: string, token?: string) =>
    fetch(`${server.listeningOrigin}${path}`, token === undefined ? {} : { headers: { authorization: token } })

  it('requires the token', async () => {
    for (const token of [undefined, '', 'Bearer wrong', 'metrics-token', 'Bearer metrics-token2']) {
      const answer = await get('/metrics', token)
      assert.equal(answer.status, 401)
      assert.doesNotMatch(await answer.text(), /tollgate_/)
    }
    const answer = await get('/metrics', 'Bearer metrics-token')
    assert.equal(answer.status, 200)
    assert.match(String(answer.headers.get('content-type')), /^text\/plain; version=0\.0\.4/)
    // RFC 9110 section 11.1, as for API keys.
    for (const token of ['bearer metrics-token', 'BEARER  metrics-token']) {
      assert.equal((await get('/metrics', token)).status, 200, token)
    }
  })

  it('counts by route, not by URL, so that callers cannot create labels', async () => {
    for (const path of ['/things/1', '/things/2?x', '/nowhere/secret', '/metrics?secret']) await get(path)
    metrics.tokensCharged('one', { inputTokens: 12, outputTokens: 3, cachedTokens: 0, cacheWriteTokens: 0 })
    const text = await (await get('/metrics', 'Bearer metrics-token')).text()
    assert.match(text, /request_seconds_count\{method="GET",route="\/things\/:id",status="200",code="none"\} 2\n/)
    assert.match(text, /request_seconds_count\{method="GET",route="unknown",status="404",code="not_found"\} 1\n/)
    assert.match(text, /tollgate_tokens_total\{model="one",direction="input"\} 12\n/)
    assert.match(text, /tollgate_tokens_total\{model="one",direction="output"\} 3\n/)
    assert.match(text, /tollgate_requests_in_flight 1\n/)
    assert.match(text, /tollgate_model_ready\{model="one"\} 1\n.*model="two"\} 0\n/)
    assert.doesNotMatch(text, /secret|things\/1/)
  })

  it('names counters, and nothing else, as totals, with a help text for each metric', async () => {
    const text = await metrics.text()
    const typed = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)]
    assert.ok(typed.length > 20, text)
    for (const [, name = '', type] of typed) {
      assert.equal(name.endsWith('_total'), type === 'counter', name)
      assert.match(text, new RegExp(`^# HELP ${name} \\S`, 'm'))
    }
  })

  it('does not exist without a token in the configuration', async () => {
    const other = createServer(needs)
    registerMetrics(other, createMetrics().text, undefined)
    await other.listen({ port: 0, host: '127.0.0.1' })
    assert.equal((await fetch(`${other.listeningOrigin}/metrics`)).status, 404)
    await other.close()
  })
})
