import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createEventStream } from './event-stream.ts'
import { Failure } from './failure.ts'

/** What comes out of bytes that arrive in pieces of one size. */
function read(bytes: string | Buffer, size = Number.POSITIVE_INFINITY): string[] {
  const all = Buffer.from(bytes)
  const events = createEventStream()
  const data: string[] = []
  for (let from = 0; from < all.length; from += size) data.push(...events.push(all.subarray(from, from + size)))
  return [...data, ...events.end()]
}

const everything = [
  '\uFEFF: a comment\n',
  'event: message\nid: 7\nretry: 10\ndata: first\n\n',
  'data: Grüß Gott 😀\r\n\r\n',
  'data:no space\n\n',
  'data:  two spaces\n\n',
  'data: one\ndata: two\r\ndata\ndata: three\n\n',
  'data: old Mac\r\rdata: mixed\r\n\n',
  'event: nothing\n\n\n\n',
  ': ping\n\n',
  'datax: no field\n\n',
  'data: {"a":"b:c"}\n\n',
  'data: not completed\n',
].join('')
const expected = [
  'first',
  'Grüß Gott 😀',
  'no space',
  ' two spaces',
  'one\ntwo\n\nthree',
  'old Mac',
  'mixed',
  '{"a":"b:c"}',
  'not completed',
]

describe('events', () => {
  test('are read, with every kind of line end, comments, other fields and data of several lines', () => {
    assert.deepEqual(read(everything), expected)
  })

  for (const size of [1, 2, 3, 5, 7, 16, 61]) {
    test(`are the same when their bytes come ${size} at a time`, () => {
      assert.deepEqual(read(everything, size), expected)
    })
  }

  test('are the same wherever they are cut in two', () => {
    const bytes = Buffer.from(everything)
    for (let at = 0; at <= bytes.length; at++) {
      const events = createEventStream()
      const data = [...events.push(bytes.subarray(0, at)), ...events.push(bytes.subarray(at)), ...events.end()]
      assert.deepEqual(data, expected, `cut at ${at}`)
    }
  })

  test('come as soon as they are complete', () => {
    const events = createEventStream()
    assert.deepEqual(events.push(Buffer.from('data: a\n')), [])
    assert.deepEqual(events.push(Buffer.from('\ndata: b')), ['a'])
    assert.deepEqual(events.push(Buffer.from('\n\n')), ['b'])
    assert.deepEqual(events.end(), [])
  })
})

const refuses = (bytes: Buffer, size: number, cause: RegExp) =>
  assert.throws(
    () => read(bytes, size),
    (error) => error instanceof Failure && cause.test(String(error.problem.details.cause)),
  )

describe('a stream is refused', () => {
  test('when a line is 5 MB long, before it is kept', () => {
    refuses(Buffer.alloc(5 * 1024 * 1024, 'x'), 65_536, /a line without an end/)
    refuses(
      Buffer.concat([Buffer.from('data: '), Buffer.alloc(5 * 1024 * 1024, 'x'), Buffer.from('\n\n')]),
      1e9,
      /an event/,
    )
  })

  test('when an event of many lines is 5 MB long', () => {
    refuses(Buffer.from(`data: ${'x'.repeat(1000)}\n`.repeat(5000)), 65_536, /an event without an end/)
  })

  test('when it is not UTF-8', () => {
    refuses(Buffer.from('data: \xff\n\n', 'latin1'), 1, /not UTF-8/)
    refuses(Buffer.from('data: \xc3\n\n', 'latin1'), 100, /not UTF-8/)
  })
})
