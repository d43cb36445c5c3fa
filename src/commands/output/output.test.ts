import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { firmOf } from '../../../tests/support/config.ts'
import { formatFor } from './format.ts'
import { writeTable, type Column } from './output.ts'

interface Row {
  readonly name: string
  readonly cost: string
}

function linesOf(rows: readonly Row[], columns: readonly Column<Row>[]): string[] {
  let text = ''
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      text += String(chunk)
      done()
    },
  })
  writeTable({ stdout }, rows, columns, 'nothing')
  return text.split('\n')
}

const name: Column<Row> = { title: 'NAME', text: (row) => row.name }

test('a table aligns text on the left and amounts on the right, and no line ends in spaces', async () => {
  const format = await formatFor(firmOf({ currency: 'EUR' }))
  const rows = [
    { name: 'Acme', cost: '1234.5' },
    { name: 'Long & Sons', cost: '0.125' },
    { name: 'Gone', cost: '' },
  ]
  assert.deepEqual(linesOf(rows, [name, format.amountColumn('COST', rows, ({ cost }) => cost), name]), [
    'NAME         COST (EUR)  NAME',
    'Acme          1,234.500  Acme',
    'Long & Sons       0.125  Long & Sons',
    'Gone                     Gone',
    '',
  ])
  assert.deepEqual(linesOf(rows, [name, { title: 'NONE', text: () => '' }])[3], 'Gone')
})
