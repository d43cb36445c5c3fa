import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvCell } from './csv-cell.ts'

test('text that a spreadsheet could read as a formula is escaped, wherever a cell could begin', () => {
  for (const [text, cell] of [
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    [' =1+1', "' =1+1"],
    ['＝1+1', "'＝1+1"],
    ['x;=1+1', `"x;'=1+1"`],
    ['x; =1+1', `"x;' =1+1"`],
    ['x\t=1+1', `"x\t'=1+1"`],
    ['x\n-1', `"x\n'-1"`],
    ['\tx', `"'\tx"`],
    ['"=1', '"""=1"'],
  ] as const) {
    assert.equal(csvCell(text), cell)
  }
})

test('other text is unchanged, and quoted where necessary', () => {
  for (const [value, cell] of [
    [null, ''],
    [17n, '17'],
    ['a-b+c=d@e', 'a-b+c=d@e'],
    ['a,b', '"a,b"'],
    ['a;b', '"a;b"'],
    ['a\tb', '"a\tb"'],
    ['say "hi"', '"say ""hi"""'],
    ['{"method":"firm"}', '"{""method"":""firm""}"'],
    ['2001:db8::1', '2001:db8::1'],
  ] as const) {
    assert.equal(csvCell(value), cell)
  }
})
