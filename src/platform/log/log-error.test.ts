import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestDatabase } from '../../../tests/support/database.ts'
import { createTestLog } from '../../../tests/support/log.ts'
import { fixture, setUp } from '../../../tests/support/fixture.ts'
import { openDatabase } from '../database/database.ts'
import { describeError } from './log-error.ts'

const own = fixture(() => createTestDatabase({ empty: true }))
const database = fixture(() => openDatabase(own.url, { log: createTestLog().log, connections: 1 }))
setUp(() => database.rows('create table thing (name text constraint short check (length(name) < 3))'))

const failed = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.fail('it succeeded'),
    (error: unknown) => error,
  )

test('an error of the database is logged with its code, table and constraint, and without a text that may quote a row', async () => {
  const error = await failed(database.rows('insert into thing values ($1)', ['secret']))
  const { stack, ...described } = describeError(error)
  assert.deepEqual(described, { type: 'error', code: '23514', table: 'thing', constraint: 'short' })
  assert.match(stack ?? '', /^ {4}at /)
  const cast = await failed(database.rows(`select 'secret'::integer`))
  assert.match(String(cast), /secret/, 'the message quotes the value')
  for (const each of [error, cast, new Error('outer', { cause: cast })]) {
    assert.doesNotMatch(JSON.stringify(describeError(each)), /secret/)
  }
})

test('another error is logged with its message, code and cause, and the message is in the line once', () => {
  const cause = Object.assign(new TypeError('inner'), { code: 'E_INNER', table: 'x', constraint: 'y' })
  const described = describeError(new RangeError('outer', { cause }))
  assert.deepEqual([described.type, described.message, described.code], ['RangeError', 'outer', undefined])
  const { stack, ...inner } = described.cause ?? assert.fail()
  assert.deepEqual(inner, { type: 'TypeError', code: 'E_INNER', message: 'inner' })
  for (const each of [stack, described.stack]) assert.match(each ?? '', /^ {4}at /)
  assert.doesNotMatch(`${stack}${described.stack}`, /inner|outer/)
})

test('what is no error is logged by its type alone', () => {
  assert.deepEqual(describeError('secret'), { type: 'string' })
  assert.deepEqual(describeError(new Error('outer', { cause: 'secret' })).cause, undefined)
})
