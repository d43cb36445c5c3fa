/**
 * Starts an instance that drafts letters, and writes its URL. It kills itself at a step of a draft: before the statement of
 * that step is sent, when it was sent, or when it was answered.
 */
import { Connection } from 'pg'
import { draftingSettings } from './drafting.ts'
import { startService } from './service.ts'

/** Whether a prepared statement with these values is a step. */
type IsStep = (statement: string, values: readonly unknown[]) => boolean

const named =
  (name: string): IsStep =>
  (statement) =>
    statement.startsWith(`${name} `)

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

const kill = () => process.kill(process.pid, 'SIGKILL')

const fates: Readonly<Record<string, (connection: Connection) => unknown>> = {
  before: kill,
  // What was written in this turn of the event loop is sent at its end.
  sent: () => setImmediate(() => setImmediate(kill)),
  answered: (connection) => connection.once('readyForQuery', kill),
}

const [databaseUrl = '', vendorUrl = '', step = '', fate = ''] = process.argv.slice(2)
const [isStep, end] = [steps[step], fates[fate]]
const prototype: { bind: (this: Connection, ...all: Parameters<Connection['bind']>) => void } = Connection.prototype
const { bind } = prototype
prototype.bind = function (...all) {
  const [config] = all
  if (config !== null && isStep?.(config.statement ?? '', config.values ?? [])) end?.(this)
  bind.apply(this, all)
}
// It must not be killed by a step of an earlier draft that it recovers.
const service = await startService({ ...draftingSettings(vendorUrl), databaseUrl, recoveryPause: 600_000 })
process.stdout.write(`${service.url}\n`)
