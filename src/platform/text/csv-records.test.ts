import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readCsv } from './csv-records.ts'
import { csvRecords } from './csv-stream.ts'
import { UnreadableLine, utf8Texts } from './text-stream.ts'
import { valuesOf } from '../../../tests/support/json.ts'

const read = (text: string) => readCsv(Buffer.from(text))
const cellsOf = (text: string) => read(text).records.map(({ cells }) => cells)
/** Reads a file as it arrives, in pieces of three bytes: its records, and the line of the first fault. */
async function stream(bytes: Uint8Array) {
  const records: unknown[] = []
  async function* pieces() {
    for (let start = 0; start < bytes.length; start += 3) yield bytes.subarray(start, start + 3)
  }
  try {
    for await (const record of csvRecords(utf8Texts(pieces()))) records.push(record)
    return { records, faults: [] }
  } catch (error) {
    if (error instanceof UnreadableLine) return { records, faults: [{ line: error.line, reason: error.message }] }
    throw error
  }
}
const linesOf = (text: string) => read(text).records.map(({ line }) => line)

describe('a CSV file', () => {
  const same: [what: string, text: string][] = [
    ['line feeds', 'a,b\nc,d\n'],
    ['no line end at the end', 'a,b\nc,d'],
    ['carriage returns and line feeds', 'a,b\r\nc,d\r\n'],
    ['both in turn', 'a,b\r\nc,d\n'],
    ['carriage returns alone', 'a,b\rc,d\r'],
    ['a byte order mark', '\ufeffa,b\nc,d\n'],
    ['empty lines', '\n\na,b\n\n\r\nc,d\n\n'],
    ['lines of empty cells', 'a;b\nc;d\n;\n ; \n'],
    ['quoted cells', '"a","b"\n"c","d"\n'],
    ['semicolons', 'a;b\nc;d\n'],
    ['tabs', 'a\tb\nc\td\n'],
    ['its separator named first', 'sep=;\r\na;b\r\nc;d\r\n'],
    ['a byte order mark and its separator', '\ufeffSEP=,\na,b\nc,d\n'],
  ]
  for (const [what, text] of same) {
    test(`with ${what}`, async () => {
      assert.deepEqual(await stream(Buffer.from(text)), read(text))
      assert.deepEqual(cellsOf(text), [
        ['a', 'b'],
        ['c', 'd'],
      ])
      assert.deepEqual(read(text).faults, [])
    })
  }

  test('keeps commas, quotes and line breaks inside quotes, and counts lines correctly', async () => {
    const text = 'a,b\n"one, ""two""","x\ny\r\nz"\n\nlast,d\n'
    assert.deepEqual(cellsOf(text), [
      ['a', 'b'],
      ['one, "two"', 'x\ny\r\nz'],
      ['last', 'd'],
    ])
    assert.deepEqual(linesOf(text), [1, 2, 6])
    assert.deepEqual(valuesOf((await stream(Buffer.from(text))).records, 'line'), [1, 2, 6])
  })

  test('counts the line that names the separator', () => {
    assert.deepEqual(linesOf('sep=;\na,x;b\nc;d\n'), [2, 3])
    assert.deepEqual(cellsOf('sep=;\na,x;b,y,z\n'), [['a,x', 'b,y,z']])
    assert.deepEqual(cellsOf('sep=;'), [['sep=', '']])
  })

  test('in UTF-16 without a byte order mark: names the fix', () => {
    for (const bytes of [Buffer.from('name\nБерг\n', 'utf16le'), Buffer.from('name\nAnna\n', 'utf16le').swap16()]) {
      const { records, faults } = readCsv(bytes)
      assert.equal(records.length, 0)
      assert.match(faults[0]?.reason ?? '', /^this is UTF-16: save the file as CSV UTF-8/)
    }
  })

  const faults: [what: string, text: string, line: number, records: number][] = [
    ['a quote that is never closed', 'a,b\nc,d\n"e,f\ng,h\n', 3, 2],
    ['a quote that is never closed, after empty lines', 'a,b\n\n\n"e,f\ng,h\n', 4, 1],
    ['something behind a closing quote', 'a,b\n"c" x,d\ne,f\n', 2, 1],
    ['a quote in the middle of a text', 'a,b\nc,d\nx "y",z\n', 3, 2],
    ['a quote that closes lines later', 'a,b\n"c,d\ne,f\ng",h\ni"j,k\n', 5, 2],
  ]
  for (const [what, text, line, records] of faults) {
    test(`with ${what}: names the line`, async () => {
      const found = read(text)
      assert.deepEqual((await stream(Buffer.from(text))).faults, found.faults)
      assert.deepEqual(valuesOf(found.faults, 'line'), [line])
      assert.equal(found.records.length, records)
    })
  }

  test('in another encoding: names the line of the first invalid byte', async () => {
    const latin = Buffer.concat([Buffer.from('name\nfine\n'), Buffer.from('Bj\xf6rn\n', 'latin1')])
    const found = readCsv(latin)
    assert.deepEqual(valuesOf((await stream(latin)).faults, 'line'), [3])
    assert.deepEqual(found.records, [])
    assert.deepEqual(found.faults, [{ line: 3, reason: 'this is not UTF-8: save the file as CSV UTF-8' }])
  })

  test('without content has no records', async () => {
    assert.deepEqual(await stream(Buffer.from('')), { records: [], faults: [] })
    assert.deepEqual(read(''), { records: [], faults: [] })
    assert.deepEqual(read('\n\n'), { records: [], faults: [] })
  })
})
