import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { tollgateHere } from '../../tests/support/command-line.ts'
import { setUp, temporaryFolder } from '../../tests/support/fixture.ts'
import { listAt, objectAt, parseObject, valuesOf } from '../../tests/support/json.ts'
import { openOwnDatabase } from '../../tests/support/own-database.ts'

const folder = temporaryFolder()
const [configuration, file] = [path.join(folder, 'tollgate.yaml'), path.join(folder, 'usage.csv')]
const { own: home, database } = openOwnDatabase()
let environment: Record<string, string>

const common = 'engine: openai, context: 4096, max_output_tokens: 512'
setUp(async () => {
  await writeFile(
    configuration,
    `models:
  - { id: far, upstream_model: gpt-4o, endpoints: [{ url: "https://vendor.example/v1" }], ${common} }
  - { id: near, upstream_model: gpt-4o-mini, endpoints: [{ url: "https://vendor.example/v1" }], ${common} }
  - { id: other, upstream_model: m, endpoints: [{ url: "https://other.example/v1" }], ${common} }
`,
  )
  environment = { DATABASE_URL: home.url, TOLLGATE_DATA: folder, TOLLGATE_CONFIG: configuration }
  await database.rows(`select ledger_partitions('2026-10-01', '2026-10-02')`)
})

interface Charge {
  readonly at: string
  readonly model?: string
  readonly source?: string
  readonly ended?: string
  readonly uncharged?: number
  readonly milliseconds?: number
}

/** Adds a charge of 100 input, 20 cached, 3 written and 10 output tokens. Returns its request id. */
async function charge({
  at,
  model = 'far',
  source = 'upstream',
  ended = 'complete',
  ...more
}: Charge): Promise<string> {
  const { uncharged = 0, milliseconds = 10 } = more
  const id = randomUUID()
  await database.rows(
    `insert into ledger (at, request_id, account_id, key_id, model, input_tokens, cached_tokens, cache_write_tokens, output_tokens,
       input_price, output_price, cost, stop_reason, usage_source, uncharged_output, milliseconds)
     values ($1, $2, uuidv7(), uuidv7(), $3, 100, 20, 3, 10, 1, 2, 143, $4, $5::usage_source, $6, $7)`,
    [at, id, model, ended, source, uncharged, milliseconds],
  )
  return id
}

const head =
  'start_time,end_time,model,input_tokens,input_cached_tokens,input_cache_write_tokens,output_tokens,num_model_requests\n'
const day = (date: string) => `${Date.parse(date) / 1000},${Date.parse(date) / 1000 + 86_400}`
const run = (...args: string[]) => tollgateHere(['reconcile', file, ...args], environment)

test('names the days, models and requests on which a vendor and the ledger differ', async () => {
  await charge({ at: '2026-10-01T12:00:00Z' })
  await charge({ at: '2026-10-01T12:00:00Z', model: 'other' })
  const uncharged = await charge({ at: '2026-10-02T12:00:00Z', uncharged: 7 })
  const broken = await charge({ at: '2026-10-02T13:00:00Z', source: 'estimated', ended: 'error' })
  const late = await charge({ at: '2026-10-03T00:00:01Z', milliseconds: 5000 })
  await charge({ at: '2026-10-02T14:00:00Z', model: 'near' })
  await database.rows(
    `insert into refusal_day (day, account_id, key_id, model, code, requests) values
       ('2026-10-02', uuidv7(), uuidv7(), 'far', 'upstream_timeout', 3), ('2026-10-02', uuidv7(), uuidv7(), 'far', 'missing_field', 9)`,
  )
  const agreed = `${day('2026-10-01')},gpt-4o-2024-08-06,123,20,3,10,1\n`
  await writeFile(file, head + agreed)
  const same = await run()
  assert.deepEqual([same.status, same.stderr], [0, ''])
  assert.match(
    same.stdout,
    /^1 row of OpenAI's usage, 2026-10-01 to 2026-10-01 \(UTC\)\. Compared: gpt-4o, gpt-4o-mini\.\n\nThe vendor and the ledger agree\.\n$/,
  )

  await writeFile(file, `${head}${agreed}${day('2026-10-02')},gpt-4o,1369,20,6,37,3\n`)
  const { status, stdout, stderr } = await run()
  assert.deepEqual([status, stderr], [1, 'The vendor and the ledger differ: 2 of 3 days of a model.\n'])
  assert.deepEqual(stdout.split('\n').slice(2), [
    'DAY         MODEL        KIND          VENDOR  LEDGER  DIFFERENCE',
    '2026-10-02  gpt-4o       input          1,343     200       1,143',
    '2026-10-02  gpt-4o       cached_input      20      40         -20',
    '2026-10-02  gpt-4o       output            37      20          17',
    '2026-10-02  gpt-4o       requests           3       2           1',
    '2026-10-02  gpt-4o-mini  input              0     100        -100',
    '2026-10-02  gpt-4o-mini  cached_input       0      20         -20',
    '2026-10-02  gpt-4o-mini  cache_write        0       3          -3',
    '2026-10-02  gpt-4o-mini  output             0      10         -10',
    '2026-10-02  gpt-4o-mini  requests           0       1          -1',
    '',
    '2026-10-02 gpt-4o:',
    '  7 output tokens were reported by the vendor and not charged',
    '  3 failed with upstream_timeout',
    `  ${uncharged} at 2026-10-02T12:00:00.000Z far: 123 input, 10 output, uncharged`,
    `  ${broken} at 2026-10-02T13:00:00.000Z far: 123 input, 10 output, estimated, error`,
    `  ${late} at 2026-10-03T00:00:01.000Z far: 123 input, 10 output, crosses_midnight`,
    '2026-10-02 gpt-4o-mini: no request in the ledger stands out.',
    '',
  ])
  const json = await run('--json')
  assert.equal(json.status, 1)
  const [first] = listAt(parseObject(json.stdout), 'differences')
  assert.deepEqual(valuesOf(listAt(first, 'requests'), 'request_id'), [uncharged, broken, late])
  assert.deepEqual(listAt(first, 'counts')[3], { kind: 'requests', vendor: 3, ledger: 2, difference: 1 })
  assert.equal((await run('--to', '2026-10-01')).status, 0)
})

test('warns of what may be incomplete, and refuses what it cannot read as a usage error', async () => {
  const start = Date.parse('2099-01-01') / 1000
  const bucket = { start_time: start, end_time: start + 3600, results: [] }
  await writeFile(file, JSON.stringify({ data: [bucket], has_more: true }))
  const { status, stderr } = await run()
  assert.equal(status, 0)
  assert.match(stderr, /^The vendor has more pages.*\nThe last day is not over/)
  await writeFile(file, `${head}${day('2026-10-01')},nobody,x,0,0,0,1\n`)
  const refused = await run('--json')
  assert.equal(refused.status, 2)
  assert.match(
    refused.stderr,
    /^error: nothing was compared, .*:\nline 2: input_tokens is "x", but must be a whole number/,
  )
  assert.deepEqual(valuesOf(listAt(objectAt(parseObject(refused.stdout)), 'faults'), 'line'), [2])
  for (const args of [
    ['--model', 'far'],
    ['--from', '2026-10-02', '--to', '2026-10-01'],
  ])
    assert.equal((await run(...args)).status, 2, args.join(' '))
  const missing = await tollgateHere(['reconcile', path.join(folder, 'none.csv')], environment)
  assert.deepEqual([missing.status, missing.stderr.includes('cannot be read (ENOENT)')], [2, true])
})
