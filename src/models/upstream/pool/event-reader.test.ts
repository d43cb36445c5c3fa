import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createEventReader } from './event-reader.ts'
import { Failure } from '../failure.ts'

/** Reads bytes that arrive in chunks of one size. */
function read(bytes: string | Buffer, size = Number.POSITIVE_INFINITY): string[] {
  const all = Buffer.from(bytes)
  const { events, data } = collect()
  for (let from = 0; from < all.length; from += size) events.push(all.subarray(from, from + size))
  events.end()
  return data
}

function collect() {
  const data: string[] = []
  return { data, events: createEventReader((each) => void data.push(each)) }
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

describe('the event reader', () => {
  test('reads every kind of line end, comments, other fields and data of several lines', () => {
    assert.deepEqual(read(everything), expected)
  })

  for (const size of [1, 2, 3, 5, 7, 16, 61]) {
    test(`reads the same events from chunks of ${size} bytes`, () => {
      assert.deepEqual(read(everything, size), expected)
    })
  }

  test('reads the same events wherever the bytes are cut in two', () => {
    const bytes = Buffer.from(everything)
    for (let at = 0; at <= bytes.length; at++) {
      const { events, data } = collect()
      events.push(bytes.subarray(0, at))
      events.push(bytes.subarray(at))
      events.end()
      assert.deepEqual(data, expected, `cut at ${at}`)
    }
  })

  test('passes on each event as soon as it is complete', () => {
    const { events, data } = collect()
    for (const [bytes, expectedNow] of [
      ['data: a\n', []],
      ['\ndata: b', ['a']],
      ['\n\n', ['a', 'b']],
    ] as const) {
      events.push(Buffer.from(bytes))
      assert.deepEqual(data, expectedNow)
    }
    events.end()
    assert.deepEqual(data, ['a', 'b'])
  })

  test('passes on the events before a line that is not UTF-8', () => {
    const { events, data } = collect()
    const bytes = Buffer.from('data: a\r\n\r\ndata: b\n\ndata: \xff\n\ndata: c\n\n', 'latin1')
    assert.throws(() => events.push(bytes), Failure)
    assert.deepEqual(data, ['a', 'b'])
  })

  test('reads a line of 1 MB that arrives byte by byte', () => {
    const [line] = read(`data: ${'x'.repeat(1_000_000)}\n\n`, 1)
    assert.equal(line?.length, 1_000_000)
  })
})

const refuses = (bytes: Buffer, size: number, cause: RegExp) =>
  assert.throws(
    () => read(bytes, size),
    (error) => error instanceof Failure && cause.test(String(error.problem.details.cause)),
  )

describe('the event reader refuses', () => {
  test('a line of 5 MB', () => {
    refuses(Buffer.alloc(5 * 1024 * 1024, 'x'), 65_536, /more than 1 MB/)
    refuses(
      Buffer.concat([Buffer.from('data: '), Buffer.alloc(5 * 1024 * 1024, 'x'), Buffer.from('\n\n')]),
      1e9,
      /more than 1 MB/,
    )
  })

  test('an event of 5 MB in many lines', () => {
    refuses(Buffer.from(`data: ${'x'.repeat(1000)}\n`.repeat(5000)), 65_536, /more than 1 MB/)
  })

  test('bytes that are not UTF-8', () => {
    refuses(Buffer.from('data: \xff\n\n', 'latin1'), 1, /not UTF-8/)
    refuses(Buffer.from('data: \xc3\n\n', 'latin1'), 100, /not UTF-8/)
    refuses(Buffer.from('data: \xc3', 'latin1'), 100, /not UTF-8/)
  })
})
