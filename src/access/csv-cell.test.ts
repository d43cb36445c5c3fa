import assert from 'node:assert/strict'
import { test } from 'node:test'
import { csvCell } from './csv-cell.ts'

test('what a spreadsheet could take for a formula is a text, wherever it thinks that a cell begins', () => {
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

test('everything else stays what it is, in quotes where it takes them', () => {
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
