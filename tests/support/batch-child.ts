/**
 * Starts an instance that runs batches, and writes its URL. It kills itself at a step of a line: before the statement of that step is
 * sent, when it was sent, or when it was answered.
 */
import { startService, upstreamModel } from './service.ts'
import { killAt, named, type IsStep } from './kill-at.ts'

const steps: Readonly<Record<string, IsStep>> = {
  'the claim': named('take lines'),
  'the spare': named('take spare'),
  'the hold': (statement, [, , , admissions]) => statement === 'till' && admissions !== '[]',
  'the charge': (statement, [, , settlements]) => statement === 'till' && String(settlements).includes('"stop"'),
  'the result': named('end line'),
}

const [databaseUrl = '', vendorUrl = '', step = '', fate = ''] = process.argv.slice(2)
killAt(steps[step], fate)
const service = await startService({
  models: [upstreamModel(vendorUrl)],
  limits: { batch_in_flight: 1 },
  databaseUrl,
})
process.stdout.write(`${service.url}\n`)
