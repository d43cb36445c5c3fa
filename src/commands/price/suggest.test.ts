import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { tollgateHere } from '../../../tests/support/command-line.ts'
import { setUp, temporaryFolder } from '../../../tests/support/fixture.ts'
import { at, listAt, parseObject, valuesOf } from '../../../tests/support/json.ts'
import { openOwnDatabase } from '../../../tests/support/own-database.ts'
import { runCommand } from '../run.ts'

const folder = temporaryFolder()
const [configuration, list] = [path.join(folder, 'tollgate.yaml'), path.join(folder, 'list.json')]
const { own: home, database } = openOwnDatabase()
let environment: Record<string, string>

const common =
  'engine: openai, context: 4096, max_output_tokens: 512, endpoints: [{ url: "https://api.openai.com/v1" }]'
const configured = (currency: string) => `
currency: ${currency}
models:
  - { id: mini, upstream_model: gpt-4o-mini, price: { input: "0.10", output: "0.40" }, ${common} }
  - { id: large, upstream_model: gpt-4o, ${common} }
  - { id: gone, upstream_model: gpt-gone, ${common} }
`
const entry = (input: string, output: string, more = '') =>
  `{ "litellm_provider": "openai", "input_cost_per_token": ${input}, "output_cost_per_token": ${output}${more} }`

setUp(async () => {
  const tiers = `, "input_cost_per_token_batches": 7.5e-08, "input_cost_per_token_flex": 7.5e-08, "output_cost_per_token_flex": 3e-07,
    "input_cost_per_token_above_128k_tokens": 3e-07, "output_cost_per_token_above_128k_tokens": 1.2e-06,
    "input_cost_per_token_above_128k_tokens_flex": 1.5e-07, "output_cost_per_token_above_128k_tokens_flex": 6e-07`
  await writeFile(
    list,
    `{ "gpt-4o-mini": ${entry('1.5e-07', '6e-07', tiers)}, "gpt-4o": ${entry('2.5e-06', '1e-05')} }`,
  )
  await writeFile(configuration, configured('USD'))
  environment = { DATABASE_URL: home.url, TOLLGATE_DATA: folder, TOLLGATE_CONFIG: configuration }
})

const run = (...args: string[]) => tollgateHere(['price', 'suggest', list, ...args], environment)
async function prices() {
  const { stdout } = await tollgateHere(['price', 'list', '--json'], environment)
  return listAt(parseObject(stdout), 'prices').map((price) =>
    ['model', 'input', 'state'].map((name) => at(price, name)),
  )
}

/** The same at a terminal at which somebody types the answer. */
async function runAt(answer: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true })
  const output = new PassThrough()
  stdin.end(answer)
  const status = await runCommand(['price', 'suggest', list], {
    environment,
    root: path.resolve('.'),
    stdout: output,
    stderr: output,
    stdin,
  })
  output.end()
  return { status, text: await text(output) }
}

test('shows what a list would change, sets nothing without a confirmation, and then everything at once', async () => {
  const { status, stdout, stderr } = await run()
  assert.equal(status, 0)
  assert.deepEqual(stdout.split('\n'), [
    'MODEL  PER MILLION           NOW (USD)  LIST (USD)',
    'mini   input                      0.10        0.15',
    'mini   output                     0.40        0.60',
    'mini   above 128000: input                    0.30',
    'mini   above 128000: output                   1.20',
    'mini   tier flex: factor                      0.50',
    'large  input                                  2.50',
    'large  output                                10.00',
    '',
    'Left out:',
    '  gone: the list has no gpt-gone',
    '',
    'The list also charges for this, for which Tollgate has no price:',
    '  mini: input_cost_per_token_batches 7.5e-08',
    '',
  ])
  assert.match(stderr, /^Nothing was set\. Confirm with --yes\.$/m)
  assert.match((await runAt('no\n')).text, /Set these 2 prices\? \[y\/N\].*Nothing was set/s)
  assert.deepEqual(await prices(), [])

  assert.equal((await runAt('y\n')).status, 0)
  const set = [
    ['large', '2.5', 'in force'],
    ['mini', '0.15', 'in force'],
    ['mini', '0.1', 'past'],
  ]
  assert.deepEqual(await prices(), set)
  const { stdout: listed } = await tollgateHere(['price', 'list', '--json'], environment)
  assert.deepEqual(at(listAt(parseObject(listed), 'prices')[1], 'service_tiers'), { flex: { factor: '0.5' } })
  const audited = await database.rows(`select from audit where action = 'price_set' and actor = 'command'`)
  assert.equal(audited.length, 2)
  const again = parseObject((await run('--yes', '--json')).stdout)
  assert.deepEqual([listAt(again, 'changes'), at(again, 'set')], [[], false])
  assert.deepEqual(valuesOf(listAt(again, 'unchanged'), 'model'), ['mini', 'large'])
  assert.deepEqual(await prices(), set)
})

test('sets no price if one of them cannot be set', async () => {
  const at2099 = ['--from', '2099-01-01']
  const other = ['price', 'set', 'large', '--input', '9', '--output', '19', ...at2099]
  assert.equal((await tollgateHere(other, environment)).status, 0)
  await writeFile(list, `{ "gpt-4o-mini": ${entry('2e-07', '6e-07')}, "gpt-4o": ${entry('3e-06', '1e-05')} }`)
  const before = await prices()
  const { status, stderr } = await run('--yes', ...at2099)
  assert.deepEqual([status, await prices()], [1, before])
  assert.match(stderr, /large already has another price that begins at that time/)
})

test('refuses another currency without a rate, models that do not exist, and a list that it cannot read', async (t) => {
  t.after(() => writeFile(configuration, configured('USD')))
  assert.match((await run('--rate', '0.92')).stderr, /both have USD: omit --rate/)
  await writeFile(configuration, configured('EUR'))
  const refused = await run('--yes')
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /^The list has prices in USD, and the configuration has EUR: give --rate/)
  const priced = parseObject((await run('--json', '--rate', '0.5', '--model', 'mini')).stdout)
  // The rules of the price in force stay: this list has none.
  const rules = {
    steps: [{ above: 128_000, input: '0.3', output: '1.2' }],
    service_tiers: { flex: { factor: '0.5' } },
  }
  assert.deepEqual(valuesOf(listAt(priced, 'changes'), 'price'), [{ input: '0.1', output: '0.3', ...rules }])
  const unknown = await run('--rate', '0.5', '--name', 'nobody=gpt-4o')
  assert.deepEqual([unknown.status, unknown.stderr], [2, 'error: the configuration has no upstream model nobody\n'])
  await writeFile(list, `{ "gpt-4o": ${entry('"much"', '1e-05')} }`)
  const unread = await run('--rate', '0.5')
  assert.equal(unread.status, 2)
  assert.match(unread.stderr, /cannot be read:\nlarge: gpt-4o: input_cost_per_token much must be a decimal number/)
})
