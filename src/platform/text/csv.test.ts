import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvLine, plainCsv, spreadsheetCsv, type CsvCell } from './csv.ts'

const german = spreadsheetCsv('de-DE')
const cellOf = (cell: CsvCell, format = plainCsv) => csvLine([cell], format).slice(0, -2)

test('text that a spreadsheet could read as a formula is escaped, wherever a cell could begin', () => {
  for (const [text, cell] of [
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    [' =1+1', "' =1+1"],
    ['＝1+1', "'＝1+1"],
    ['x\t=1+1', `"x\t'=1+1"`],
    ['x\n-1', `"x\n'-1"`],
    ['\tx', `"'\tx"`],
    ['\rx', `"'\rx"`],
    ['"=1', '"""=1"'],
  ] as const) {
    assert.equal(cellOf(text), cell)
    assert.equal(cellOf(text, german), cell)
  }
})

test('text that would be a formula in a spreadsheet with the other separator is escaped', () => {
  for (const [text, inCommas, inSemicolons] of [
    ['x;=1+1', `"x;'=1+1"`, '"x;=1+1"'],
    ['x; =1+1', `"x;' =1+1"`, '"x; =1+1"'],
    ['x,=1+1', '"x,=1+1"', `"x,'=1+1"`],
    ['x, -1', '"x, -1"', `"x,' -1"`],
  ] as const) {
    assert.equal(cellOf(text), inCommas)
    assert.equal(cellOf(text, german), inSemicolons)
  }
})

test('other text is unchanged, and quoted where necessary', () => {
  for (const [value, cell] of [
    [null, ''],
    [undefined, ''],
    [17, '17'],
    [17n, '17'],
    ['a-b+c=d@e', 'a-b+c=d@e'],
    ['a,b', '"a,b"'],
    ['a;b', '"a;b"'],
    ['a\tb', '"a\tb"'],
    ['say "hi"', '"say ""hi"""'],
    ['{"method":"firm"}', '"{""method"":""firm""}"'],
    ['2001:db8::1', '2001:db8::1'],
    ['1.5', '1.5'],
  ] as const) {
    assert.equal(cellOf(value), cell)
    assert.equal(cellOf(value, german), cell)
  }
})

test('a spreadsheet gets the separator and the decimal mark of its locale, and a program always the same', () => {
  const cells = ['Münch', { decimal: '-1234.56' }, { decimal: '19' }]
  assert.deepEqual(
    ['en-GB', 'en-US', 'de-DE', 'de-AT', 'fr-FR', 'de-CH', 'de-LI', 'ja-JP'].map((locale) => {
      const format = spreadsheetCsv(locale)
      assert.equal(format.mark, '\uFEFF')
      return [locale, csvLine(cells, format).trimEnd()]
    }),
    [
      ['en-GB', 'Münch,-1234.56,19'],
      ['en-US', 'Münch,-1234.56,19'],
      ['de-DE', 'Münch;-1234,56;19'],
      ['de-AT', 'Münch;-1234,56;19'],
      ['fr-FR', 'Münch;-1234,56;19'],
      ['de-CH', 'Münch;-1234.56;19'],
      ['de-LI', 'Münch;-1234.56;19'],
      ['ja-JP', 'Münch,-1234.56,19'],
    ],
  )
  assert.equal(plainCsv.mark + csvLine(cells, plainCsv), 'Münch,-1234.56,19\r\n')
})
