import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import { fixture } from '../support/fixture.ts'
import { startService, upstreamModel } from '../support/service.ts'
import { startVendor } from '../support/vendor.ts'

const vendor = fixture(() => startVendor())
const service = fixture(() =>
  startService({
    models: [upstreamModel(vendor.url)],
    requestBytes: '16KiB',
  }),
)

interface Call {
  readonly headers: Record<string, string>
  body: Record<string, unknown>
  text: (body: object) => string
}

/** The table of ARCHITECTURE.md: what is checked, and how it is refused. */
function documentedChecks(): string[] {
  const text = readFileSync(path.join(import.meta.dirname, '../../ARCHITECTURE.md'), 'utf8')
  const [, table = ''] = /\| Check +\| Refused as[^\n]*\n[^\n]*\n((?:\|[^\n]*\n)+)/.exec(text) ?? []
  return [...table.matchAll(/^\| [^|]+ \| `(\w+)`/gm)].map(([, code = '']) => code)
}

test('a call with every fault is refused for the first of them, in the order that ARCHITECTURE.md has', async () => {
  const { accountId, key } = await service.customer({ credit: 0n, tokensPerMinute: 200 })
  const call: Call = {
    headers: { origin: 'https://page.example', 'idempotency-key': 'a key', authorization: 'Bearer tg_none' },
    body: {
      model: 'none',
      input: 'Hello',
      max_output_tokens: 90,
      metadata: { client_id: '018f0000-0000-7000-8000-000000000000' },
      unheard: 'x'.repeat(20_000),
    },
    text: (body) => JSON.stringify(body).slice(1),
  }
  const repairs: readonly (() => unknown)[] = [
    () => delete call.headers['origin'],
    () => (call.headers['authorization'] = `Bearer ${key}`),
    () => (call.body['unheard'] = 'x'),
    () => (call.text = (body) => JSON.stringify(body)),
    () => delete call.body['unheard'],
    () => (call.headers['idempotency-key'] = 'a-key'),
    () => delete call.body['metadata'],
    () => (call.body['model'] = 'fast'),
    () => (call.body['max_output_tokens'] = 10),
    () => service.accounts.addCredit(accountId, 10n ** 12n, byService),
  ]
  const refused: string[] = []
  for (const repair of [...repairs, undefined]) {
    const answer = await fetch(`${service.url}/v1/generate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...call.headers },
      body: call.text(call.body),
    })
    const text = await answer.text()
    if (!repair) assert.equal(answer.status, 200, text)
    else refused.push(/"code":"(\w+)"/.exec(text)?.[1] ?? text)
    await repair?.()
  }
  assert.deepEqual(refused, documentedChecks())
  assert.equal((await service.books(accountId)).rows.length, 1)
})
