import assert from 'node:assert/strict'
import { randomUUIDv7 } from 'node:crypto'
import { describe, it } from 'node:test'
import { byService } from '../../src/access/actor.ts'
import type { LedgerRow } from '../../src/billing/reports/ledger.ts'
import { formatMoney, parseMoney } from '../../src/billing/prices/money.ts'
import type { Answer } from '../support/answer.ts'
import { startFirm, type Member } from '../support/firm.ts'
import { at, objectAt, type Json } from '../support/json.ts'
import { fixture, setUp } from '../support/fixture.ts'
import { upstreamModel, type Customer } from '../support/service.ts'
import { until } from '../support/until.ts'
import { startVendor } from '../support/vendor.ts'
import { ok } from '../support/answer.ts'

const call = { model: 'fast', input: 'Hello', max_output_tokens: 100 }

let partner: Member
let consultant: Member
let one: Customer
let other: Customer
let ledger: LedgerRow[]

const vendor = fixture(() => startVendor())
const firm = fixture(() =>
  startFirm({
    models: [upstreamModel(vendor.url), upstreamModel(vendor.url, { id: 'dear', price: { input: '3', output: '7' } })],
    firm: { time_zone: 'Asia/Kolkata' },
  }),
)
setUp(async () => {
  const { service } = firm
  partner = await firm.join('Paula', 'partner')
  consultant = await firm.join('Anna', 'consultant')
  one = await service.customer({ name: '=1+1', credit: 10n ** 13n })
  other = await service.customer({ credit: undefined, monthlyLimit: 10n ** 13n })
  assert.equal((await service.call('/v1/generate', other.key, { ...call, max_output_tokens: 0 })).status, 400)
  // Of many refusals at once only some are kept: this one is written before the others.
  await until(async () => (await service.database.rows('select from refused_request')).length === 1)
  await Promise.all(
    [one, other].flatMap(({ key }, account) =>
      Array.from({ length: 30 }, async (_, request) => {
        const model = (request + account) % 3 === 0 ? 'dear' : 'fast'
        const input = 'word '.repeat(1 + (request % 7))
        assert.equal((await service.call('/v1/generate', key, { ...call, model, input })).status, 200)
        if (request % 10 === 0) await service.call('/v1/generate', key, { ...call, model: 'unknown' })
      }),
    ),
  )
  ledger = (await Promise.all([one, other].map(({ accountId }) => service.books(accountId)))).flatMap(
    ({ rows }) => rows,
  )
  await until(async () => objectAt((await partner.get('/usage')).json, 'total')['refused'] === 7)
})

async function read(address: string): Promise<Json> {
  const answer = ok(await partner.get(address))
  return answer.json
}

function list(json: Json, ...path: string[]): Json[] {
  const found = at(json, ...path)
  assert.ok(Array.isArray(found))
  return Array.from({ length: found.length }, (_, index) => objectAt(found, index))
}

/** The sums of ledger rows as the API sends them, with refusals. */
function figuresOf(rows: readonly LedgerRow[], refused: number): Json {
  return {
    requests: rows.length,
    input_tokens: rows.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
    output_tokens: rows.reduce((sum, { outputTokens }) => sum + outputTokens, 0),
    cost: formatMoney(rows.reduce((sum, { cost }) => sum + cost, 0n)),
    refused,
    cached_tokens: rows.reduce((sum, { cachedTokens }) => sum + cachedTokens, 0),
    cache_write_tokens: rows.reduce((sum, { cacheWriteTokens }) => sum + cacheWriteTokens, 0),
  }
}

/** What is left of an account, and what is used of it in per cent. */
async function used(account: string): Promise<unknown[]> {
  const [shown] = list(await read(`/usage?account=${account}`), 'limits')
  return [shown?.['available'], shown?.['used_percent']]
}

const of = (id: string) =>
  ledger.filter(({ accountId, keyId }: LedgerRow & { accountId?: string }) => accountId === id || keyId === id)

/** The lines of a CSV file without quotes, each as an object. */
function linesOf({ text }: Answer): Record<string, string>[] {
  const [titles = '', ...lines] = text.trimEnd().split('\r\n')
  return lines.map((line) => {
    const cells = line.split(',')
    return Object.fromEntries(titles.split(',').map((title, index) => [title, cells[index] ?? '']))
  })
}

describe('GET /usage', () => {
  it('sums exactly what the ledger has, in total and in every breakdown', async () => {
    const json = await read('/usage?by=day,model,key,account')
    assert.deepEqual(json['total'], figuresOf(ledger, 7))
    assert.equal(objectAt(json, 'previous')['requests'], 0)
    const models = list(json, 'models', 'rows')
    assert.deepEqual(
      models.find(({ model }) => model === 'dear'),
      {
        model: 'dear',
        ...figuresOf(
          ledger.filter(({ model }) => model === 'dear'),
          0,
        ),
      },
    )
    assert.deepEqual(
      models.find(({ model }) => model === null),
      { model: null, ...figuresOf([], 6) },
    )
    const key = list(json, 'keys', 'rows').find((row) => objectAt(row, 'key')['id'] === one.keyId)
    assert.deepEqual(key, {
      key: { id: one.keyId, name: 'test' },
      person: null,
      account: { id: one.accountId, name: '=1+1' },
      ...figuresOf(of(one.keyId), 3),
    })
    assert.deepEqual(list(json, 'clients', 'rows'), [{ client: null, ...figuresOf(ledger, 7) }])
    for (const breakdown of ['models', 'keys', 'clients', 'accounts']) {
      const rows = list(json, breakdown, 'rows')
      assert.equal(
        formatMoney(rows.reduce((sum, { cost }) => sum + parseMoney(String(cost)), 0n)),
        objectAt(json, 'total')['cost'],
      )
      assert.equal(at(json, breakdown, 'others'), null)
    }
    const sum = list(json, 'rows').reduce((all, { cost }) => all + parseMoney(String(cost)), 0n)
    assert.equal(formatMoney(sum), objectAt(json, 'total')['cost'])
    assert.deepEqual(list(json, 'refusals'), [
      { code: 'unknown_model', requests: 6 },
      { code: 'invalid_field', requests: 1 },
    ])
  })

  it('selects by account, key and model, and names what it selects', async () => {
    for (const [query, rows, refused] of [
      [`account=${one.accountId}`, of(one.keyId), 3],
      [`key=${other.keyId}`, of(other.keyId), 4],
      [`model=dear&account=${one.accountId}`, of(one.keyId).filter(({ model }) => model === 'dear'), 0],
      ['model=none', [], 0],
      ['account=nonsense', [], 0],
      [`client=${one.accountId}`, [], 0],
      ['from=2020-01-01&to=2020-02-01', [], 0],
    ] as const) {
      assert.deepEqual((await read(`/usage?${query}`))['total'], figuresOf(rows, refused), query)
    }
    const { filter } = await read(`/usage?account=${one.accountId}&key=${one.keyId}`)
    assert.deepEqual(filter, { account: { id: one.accountId, name: '=1+1' }, key: { id: one.keyId, name: 'test' } })
  })

  it('compares with the days before, and shows how close accounts are to their limits', async () => {
    const today = String((await read('/usage'))['to'])
    const later = (days: number) => new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10)
    // Two days, because the first request may have been yesterday, before midnight.
    const json = await read(`/usage?from=${later(1)}&to=${later(2)}`)
    assert.deepEqual(json['previous'], { from: later(-1), to: today, ...figuresOf(ledger, 7) })
    const limits = list(json, 'limits')
    const prepaid = limits.find((row) => objectAt(row, 'account')['id'] === one.accountId)
    const { charged } = await firm.service.books(one.accountId)
    assert.deepEqual(
      [prepaid?.['available'], prepaid?.['credit_added'], prepaid?.['monthly_limit']],
      [formatMoney(10n ** 13n - charged), '10', null],
    )
    const monthly = limits.find((row) => objectAt(row, 'account')['id'] === other.accountId)
    const spent = (await firm.service.books(other.accountId)).charged
    assert.deepEqual([monthly?.['monthly_limit'], monthly?.['charged_this_month']], ['10', formatMoney(spent)])
    assert.equal(objectAt(prepaid, 'requests_per_minute')['limit'], 100_000)
    // Of one account, nothing is from another one.
    const own = await read(`/usage?account=${one.accountId}&from=${later(1)}&to=${later(2)}`)
    assert.deepEqual(own['previous'], { from: later(-1), to: today, ...figuresOf(of(one.keyId), 3) })
    assert.deepEqual(
      list(own, 'limits').map((row) => objectAt(row, 'account')['id']),
      [one.accountId],
    )
  })

  it('counts the used share of a balance from its last change, and of a monthly limit as a whole', async () => {
    const { accounts, database } = firm.service
    const limits = { requestsPerMinute: 60, tokensPerMinute: 100_000 }
    const unit = 10n ** 12n
    const empty = await accounts.create({ name: 'Never credited', ...limits }, byService)
    const prepaid = await accounts.create({ name: 'Topped up', credit: 100n * unit, ...limits }, byService)
    const monthly = await accounts.create({ name: 'Monthly', monthlyLimit: 100n * unit, ...limits }, byService)
    assert.deepEqual(await used(empty.id), ['0', null])
    await database.rows('update account set charged = $2 where id = $1', [prepaid.id, String(98n * unit)])
    assert.deepEqual(await used(prepaid.id), ['2', 98])
    await accounts.addCredit(prepaid.id, 98n * unit, byService)
    assert.deepEqual(await used(prepaid.id), ['100', 0])
    await database.rows('update account set charged = charged + $2 where id = $1', [prepaid.id, String(unit / 2n)])
    assert.deepEqual(await used(prepaid.id), ['99.5', 0])
    await database.rows('update account set held = $2 where id = $1', [monthly.id, String(29n * unit)])
    assert.deepEqual(await used(monthly.id), ['71', 29])
    await database.rows('update account set charged = 0, held = 0 where id = any($1)', [[prepaid.id, monthly.id]])
  })

  it('is a CSV file of all groups, in which no name is a formula', async () => {
    const file = await partner.get('/usage?format=csv')
    assert.match(String(file.headers.get('content-type')), /^text\/csv/)
    const lines = linesOf(file)
    assert.equal(
      formatMoney(lines.reduce((sum, { cost = '' }) => sum + parseMoney(cost), 0n)),
      figuresOf(ledger, 7)['cost'],
    )
    assert.equal(
      lines.reduce((sum, { refused }) => sum + Number(refused), 0),
      7,
    )
    assert.ok(lines.some(({ account }) => account === "'=1+1"))
    assert.ok(!file.text.includes(',=1+1'))
    const byModel = linesOf(await partner.get('/usage?format=csv&by=model'))
    assert.deepEqual(new Set(byModel.map(({ model }) => model)), new Set(['dear', 'fast', '']))
  })

  it('names the field of a bad query', async () => {
    for (const [address, field] of [
      ['/usage?by=hour', 'by'],
      ['/usage?from=2026-13-01', 'from'],
      ['/usage?unknown=1', 'unknown'],
      ['/usage?format=xml', 'format'],
      ['/usage/requests?cursor=1', 'cursor'],
      ['/usage/requests?limit=0', 'limit'],
      ['/usage/requests?outcome=lost', 'outcome'],
    ] as const) {
      const answer = await partner.get(address)
      assert.deepEqual([answer.status, answer.error['field']], [400, field], address)
    }
  })
})

/** All requests of a list, page by page. */
async function allRequests(query: string): Promise<Json[]> {
  const found: Json[] = []
  for (let cursor = ''; ;) {
    const json = await read(`/usage/requests?limit=7${query}${cursor}`)
    found.push(...list(json, 'requests'))
    const { next } = json
    if (typeof next !== 'string') return found
    cursor = `&cursor=${next}`
  }
}

const inFile = async (query: string) => linesOf(await partner.get(`/usage/requests?format=csv${query}`))

describe('GET /usage/requests', () => {
  it('has every charged request once, the newest first, and kept refusals among them', async () => {
    const requests = await allRequests('')
    const ids = requests.map((row) => String(row['request_id']))
    assert.deepEqual(
      ids,
      [...new Set(ids)].toSorted((a, b) => (a < b ? 1 : -1)),
    )
    const charged = requests.filter(({ outcome }) => outcome === 'charged')
    assert.deepEqual(
      new Map(
        charged.map((row) => [
          row['request_id'],
          [row['cost'], row['input_tokens'], row['output_tokens'], row['model']],
        ]),
      ),
      new Map(
        ledger.map(({ requestId, cost, inputTokens, outputTokens, model }) => [
          requestId,
          [formatMoney(cost), inputTokens, outputTokens, model],
        ]),
      ),
    )
    const refused = requests.filter(({ outcome }) => outcome === 'refused')
    assert.ok(refused.length >= 1 && refused.length <= 7)
    for (const row of refused)
      assert.ok(row['cost'] === '0' && Number(row['status']) >= 400 && row['stop_reason'] === null)
    assert.equal((await allRequests('&outcome=charged')).length, 60)
    assert.equal((await allRequests('&outcome=refused')).length, refused.length)
    assert.equal((await allRequests(`&account=${one.accountId}&outcome=charged`)).length, 30)
    assert.deepEqual(new Set((await allRequests('&model=dear')).map(({ model }) => model)), new Set(['dear']))
    assert.deepEqual(
      new Set((await allRequests('&code=invalid_field')).map(({ code }) => code)),
      new Set(['invalid_field']),
    )
    assert.equal((await allRequests('&stop_reason=complete')).length, 60)
    assert.deepEqual(await allRequests('&from=2020-01-01&to=2020-02-01'), [])
  })

  it('is a CSV file of all of them, in more than one piece, or of those with an outcome', async () => {
    const many = await firm.service.customer()
    await firm.service.database.rows(
      `insert into refused_request (request_id, at, account_id, key_id, status, code, milliseconds)
       select id, now(), $2, $3, 503, 'overloaded', 1 from unnest($1::uuid[]) id`,
      [Array.from({ length: 1001 }, () => randomUUIDv7()), many.accountId, many.keyId],
    )
    const lines = await inFile(`&account=${many.accountId}`)
    assert.deepEqual([lines.length, new Set(lines.map((line) => line['request_id'])).size], [1001, 1001])
    const [charged, refused] = [await inFile('&outcome=charged'), await inFile('&outcome=refused')]
    assert.ok(charged.length >= 60 && charged.every(({ status }) => status === '200'))
    assert.ok(refused.length > 0 && refused.every(({ status }) => Number(status) >= 400))
  })

  it('shows one request, with the cost that its caller saw', async () => {
    const answer = await firm.service.call('/v1/generate', one.key, call)
    const id = answer.headers.get('request-id')
    const request = await read(`/usage/requests/${id}`)
    assert.deepEqual(
      [request['cost'], request['outcome'], request['account']],
      [answer.headers.get('x-cost'), 'charged', { id: one.accountId, name: '=1+1' }],
    )
    assert.ok(Number(request['milliseconds']) >= 0)
    const [found] = list(await read(`/usage/requests?request=${id}&from=2020-01-01&to=2020-01-02`), 'requests')
    assert.deepEqual(found, request)
    const line = linesOf(await partner.get(`/usage/requests?format=csv&request=${id}`))
    assert.deepEqual([line.length, line[0]?.['cost']], [1, request['cost']])
    const time = line[0]?.['at'] ?? ''
    assert.match(time, /T\d\d:\d\d:\d\d\.\d{3}\+05:30$/)
    assert.equal(new Date(time).toISOString(), request['at'])
    for (const unknown of ['nonsense', '01990000-0000-7000-8000-000000000000']) {
      assert.equal((await partner.get(`/usage/requests/${unknown}`)).status, 404)
    }
  })
})

describe('the usage of the firm', () => {
  it('is for partners only, and each look of a person is recorded, but not every refresh', async () => {
    const recorded = async (id: string) => {
      const rows = await firm.service.database.rows<{ said: string }>(
        `select concat_ws(' ', action, outcome, details ->> 'tried', details ->> 'model') as said from audit
         where person_id = $1 and noun = 'usage' order by id`,
        [id],
      )
      return rows.map(({ said }) => said)
    }
    const paths = [
      '/usage',
      '/usage?format=csv',
      '/usage/requests',
      '/usage/requests?format=csv',
      `/usage/requests/${one.keyId}`,
    ]
    for (const path of paths) {
      const answer = await consultant.get(path)
      assert.deepEqual([answer.status, answer.error['code']], [403, 'forbidden'], path)
      assert.ok(!answer.text.includes('=1+1'))
    }
    const tried = ['usage_read', 'usage_read', 'requests_read', 'requests_read', 'requests_read']
    assert.deepEqual(
      await recorded(consultant.id),
      tried.map((action) => `access_denied refused ${action}`),
    )
    const reader = await firm.join('Ravi', 'partner')
    for (const path of ['/usage', '/usage', '/usage?model=fast', '/usage', '/usage?format=csv', '/usage?format=csv']) {
      assert.equal((await reader.get(path)).status, 200)
    }
    const once = 'usage_read allowed'
    assert.deepEqual(await recorded(reader.id), [once, `${once} ?`, once, once])

    // Nothing could erase a name from the audit log.
    for (const path of [
      '/usage?client=Moreau',
      '/usage/requests?account=Moreau',
      '/usage/requests/Moreau',
      '/audit?client=Moreau',
    ]) {
      for (const each of [consultant, reader]) await each.get(path)
    }
    const query = "select from audit where details::text like '%Moreau%'"
    assert.deepEqual(await firm.service.database.rows(query), [])
  })
})
