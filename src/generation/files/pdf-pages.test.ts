import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { pdfOf } from '../../../tests/support/sample-files.ts'
import { countPdfPages, createPdfWork } from './pdf-pages.ts'

const endOf = (pdf: Buffer) => pdf.indexOf('%%EOF')

const stream = (data: Buffer) => Buffer.concat([Buffer.from('<</ObjStm>>stream\n'), data, Buffer.from('endstream\n')])
const around = (...streams: Buffer[]) =>
  Buffer.concat([Buffer.from('%PDF-1.7\n'), ...streams, Buffer.from('<</Type/Page>>%%EOF')])

describe('the pages of a PDF', () => {
  test('are counted, also where they are compressed', () => {
    for (const compressed of [false, true]) {
      for (const pages of [1, 2, 50]) assert.equal(countPdfPages(pdfOf(pages, { compressed }), 100), pages)
    }
    const compact = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Page/Parent 2 0 R>>endobj\n<</Type\n/Page>>%%EOF')
    assert.equal(countPdfPages(compact, 100), 2)
    assert.equal(countPdfPages(around(stream(Buffer.from('<</Type /Page>>'))), 100), 2)
  })

  test('are not counted beyond the limit', () => {
    for (const compressed of [false, true]) assert.equal(countPdfPages(pdfOf(500, { compressed }), 100), 101)
  })

  test('cannot be counted in a file that is none, breaks off, or hides them', () => {
    for (const compressed of [false, true]) {
      const whole = pdfOf(2, { compressed })
      assert.equal(countPdfPages(whole.subarray(9), 100), undefined)
      assert.equal(countPdfPages(whole.subarray(0, endOf(whole)), 100), undefined)
    }
    assert.equal(
      countPdfPages(around(stream(deflateSync(Buffer.from('x'.repeat(99))).subarray(0, -5))), 100),
      undefined,
    )
    const [first, second] = [stream(deflateSync(Buffer.from('x'))), stream(deflateSync(Buffer.from('y')))]
    assert.equal(countPdfPages(around(first, second), 100), 1)
    assert.equal(countPdfPages(around(first.subarray(0, -10), second), 100), undefined)
    assert.equal(countPdfPages(around(first.subarray(0, -10)), 100), undefined)
    assert.equal(countPdfPages(pdfOf(0), 100), undefined)
    assert.equal(countPdfPages(Buffer.alloc(0), 100), undefined)
    const hidden = pdfOf(2, { compressed: true })
    hidden.fill(7, hidden.indexOf('stream\r\n') + 8, hidden.indexOf('endstream'))
    assert.equal(countPdfPages(hidden, 100), undefined)
  })

  test('are not looked for in more than some streams, nor in one that decodes to very much', () => {
    const large = (mebibytes: number) => stream(deflateSync(Buffer.alloc(mebibytes * 1024 * 1024)))
    assert.equal(countPdfPages(around(large(7)), 100), 1)
    assert.equal(countPdfPages(around(large(9)), 100), undefined)
    assert.equal(countPdfPages(around(large(5), large(5)), 100), undefined)
    const page = stream(deflateSync(Buffer.from('<</Type/Page>>')))
    assert.equal(countPdfPages(around(...Array.from({ length: 1001 }, () => page)), 5000), undefined)
  })

  test('take no more work together than one file can', () => {
    const large = around(stream(deflateSync(Buffer.alloc(5 * 1024 * 1024))))
    const small = around(...Array.from({ length: 600 }, () => stream(deflateSync(Buffer.from('x')))))
    for (const file of [large, small]) {
      const work = createPdfWork()
      assert.deepEqual(
        [1, 2, 3].map(() => countPdfPages(file, 100, work)),
        [1, undefined, undefined],
      )
    }
  })

  test('may be anything: no bytes make the count fail', () => {
    const word = fc.constantFrom('%PDF-', '%%EOF', '/Type/Page', '/ObjStm', 'stream\n', 'endstream', '\xff\0')
    fc.assert(
      fc.property(fc.array(fc.oneof(word, fc.string())), (words) => {
        const pages = countPdfPages(Buffer.from(`%PDF-${words.join('')}%%EOF`, 'latin1'), 10)
        assert.ok(pages === undefined || (pages > 0 && pages <= 11))
      }),
    )
  })
})
