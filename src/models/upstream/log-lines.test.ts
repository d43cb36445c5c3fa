import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { parseObject } from '../../../tests/support/json.ts'
import type { VendorOptions } from '../../../tests/support/vendor-options.ts'
import { createModels, pieces, type Manner } from '../../../tests/support/vendor-run.ts'
import { startVendor } from '../../../tests/support/vendor.ts'

const vendor = await startVendor()
const models = createModels()
afterEach(() => models.close())
after(() => vendor.close())

const requestId = '019d2f6e-6a1b-7c3d-8e4f-5a6b7c8d9e0f'

/** The parsed log lines of one or more runs. A run may fail. */
async function linesOf(options: VendorOptions, manner: Manner, runs = 1) {
  vendor.set(options)
  const model = models.openAi({ endpoints: [{ url: vendor.url }] })
  models.lines.length = 0
  for (let run = 0; run < runs; run++) await pieces(model, { ...manner, requestId }).catch(() => undefined)
  return models.lines.map((line) => parseObject(line))
}

const cases: [message: string, options: VendorOptions, manner: Manner, runs?: number][] = [
  ['an attempt failed', { fault: 'server_error', times: 1 }, {}],
  ['an attempt failed', { fault: 'reset', times: 1 }, { stream: true }],
  ['a stream broke off', { fault: 'early_end', after: 2 }, { stream: true }],
  ['an endpoint keeps failing: skipped for now', { fault: 'wrong_key' }, {}, 5],
  ['an endpoint keeps failing: skipped for now', { fault: 'early_end', after: 2 }, { stream: true }, 10],
]

for (const [message, options, manner, runs] of cases) {
  test(`every log line of a run has its request id: "${message}" after ${options.fault}`, async () => {
    const lines = await linesOf(options, manner, runs)
    assert.ok(
      lines.some(({ msg }) => msg === message),
      JSON.stringify(lines),
    )
    for (const line of lines) assert.equal(line['request_id'], requestId, JSON.stringify(line))
  })
}
