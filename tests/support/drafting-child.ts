/**
 * Starts an instance that drafts letters, and writes its URL. It kills itself at a step of a draft: before the statement of
 * that step is sent, when it was sent, or when it was answered.
 */
import { draftingSettings } from './drafting.ts'
import { killAt, named, type IsStep } from './kill-at.ts'
import { startService } from './service.ts'

/** The till's statement carries settlements and admissions. */
const steps: Readonly<Record<string, IsStep>> = {
  'the draft row': named('start draft'),
  'the hold': (statement, [, , , admissions]) => statement === 'till' && admissions !== '[]',
  'a look at the draft': named('watch draft'),
  'the charge': (statement, [, , settlements]) => statement === 'till' && String(settlements).includes('"stop"'),
  'the release': (statement, [, , settlements]) =>
    statement === 'till' && settlements !== '[]' && !String(settlements).includes('"stop"'),
  'the letter': named('keep draft'),
  'the end': named('end draft'),
  'the stop': named('stop draft'),
}

const [databaseUrl = '', vendorUrl = '', step = '', fate = ''] = process.argv.slice(2)
killAt(steps[step], fate)
// It must not be killed by a step of an earlier draft that it recovers.
const service = await startService({ ...draftingSettings(vendorUrl), databaseUrl, recoveryPause: 600_000 })
process.stdout.write(`${service.url}\n`)
