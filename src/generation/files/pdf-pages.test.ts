import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import { objectStream, pdfOf, pdfWith } from '../../../tests/support/sample-files.ts'
import { countPdfPages, createPdfWork } from './pdf-pages.ts'

const count = (...objects: (string | Buffer)[]) => countPdfPages(pdfWith(...objects), 100)

/** The object as most programs write it. */
const object = (number: number, text: string) => `${number} 0 obj\n${text}\nendobj\n`
const node = (...kids: number[]) => `<< /Type /Pages /Count 1 /Kids [${kids.map((kid) => `${kid} 0 R`).join(' ')}] >>`
const leaf = '<< /Type /Page >>'
/** A tree of one page. */
const small = object(2, node(3)) + object(3, leaf)

/** An object stream whose dictionary and data can be anything. */
const streamOf = (dictionary: string, data: Buffer | string) =>
  Buffer.concat([
    Buffer.from(`9 0 obj\n${dictionary}\nstream\n`),
    Buffer.from(data),
    Buffer.from('\nendstream\nendobj\n'),
  ])
const unread = '<< /N 0 /First 0 /Filter /FlateDecode >>'

describe('the pages of a PDF', () => {
  test('are counted, also where they are compressed', () => {
    for (const compressed of [false, true]) {
      for (const pages of [1, 2, 50]) assert.equal(countPdfPages(pdfOf(pages, { compressed }), 100), pages)
    }
    assert.equal(count('2 0 obj<</Kids[3 0 R 4 0 R]/Count 2>>endobj 3 0 obj<<>>endobj'), 2)
    assert.equal(count(streamOf('<</N 1/First 4>>', '2 0 <</Kids[3 0 R 4 0 R]>>')), 2)
    assert.equal(count(object(2, node(3, 4)), object(3, node(5, 6, 7))), 4)
  })

  test('are not counted beyond the limit', () => {
    for (const compressed of [false, true]) assert.equal(countPdfPages(pdfOf(500, { compressed }), 100), 101)
  })

  test('are counted as often as they are listed', () => {
    assert.equal(count(object(2, node(3, 3, 3))), 3)
    assert.equal(count(object(2, node(3, 3)), object(3, node(4, 4)), object(4, node(5, 5))), 8)
    const levels = Array.from({ length: 60 }, (_, index) => object(index + 2, node(index + 3, index + 3)))
    assert.equal(count(...levels), 101)
  })

  test('are those of any tree, in any order, compressed or not', () => {
    /** Node i has as kids some of the later nodes, each as often as it appears. */
    const trees = fc.array(fc.array(fc.nat(20), { maxLength: 4 }), { minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(trees, fc.infiniteStream(fc.boolean()), fc.boolean(), (nodes, compressed, reversed) => {
        const kids = nodes.map((steps, index) => steps.map((step) => index + 1 + step))
        const pagesOf = (at: number): number =>
          Math.max(
            1,
            (kids[at] ?? []).reduce((sum, kid) => sum + pagesOf(kid), 0),
          )
        const written = kids.map((each, index) => [index + 2, node(...each.map((kid) => kid + 2))] as const)
        const objects = written.map((each) =>
          compressed.next().value === true ? objectStream([each]) : object(...each),
        )
        assert.equal(countPdfPages(pdfWith(...(reversed ? objects.toReversed() : objects)), 1e6), pagesOf(0))
      }),
      draws({ test: 50, endure: 1000 }),
    )
  })

  test('are those of the longest version, wherever it is', () => {
    const versions = [object(2, node(3)), object(2, node(3, 4, 5)), object(2, node(4, 5))]
    for (const shift of [0, 1, 2]) assert.equal(count(...versions.slice(shift), ...versions.slice(0, shift)), 3)
    assert.equal(count(small, objectStream([[2, node(3, 4)]])), 2)
    assert.equal(count(small, object(8, node(4, 5, 6)), object(1, '<< /Pages 8 0 R >>')), 3)
    assert.equal(count(object(2, node(3, 3)), object(3, '<< /Kids [] >>'), object(3, leaf)), 2)
  })

  test('are found however their names and lists are written', () => {
    const kids = '[4 0 R 5 0 R]'
    for (const tree of [
      `<< /#4bi#64s ${kids} >>`,
      `<</Kids\0%[ ( ]\n${kids}>>`,
      `<< /Title (a \\) /Kids [ \\\\) /Kids ${kids} >>`,
      `<< /ID <2f> /Kids [4 0 R 5%\n0 R] >>`,
      `<< /Title (a ((b)) /Kids [9]) %x\r/Kids ${kids} >>`,
      `<< /Title (a) %x\n/Kids ${kids} >>`,
      '<< /Kids 7 0 R >> endobj 7 0 obj [4 0 R 5 0 R]',
      '7 0 R endobj 7 0 obj << /Kids [4 0 R 5 0 R] >>',
    ]) {
      assert.equal(count(object(2, tree)), 2, tree)
      assert.equal(count(small, `x\r2\t00\0obj ${tree}`), 2, tree)
    }
    assert.equal(count(small, object(6, '[2 0 R 3 0 R 4 0 R]'), object(7, '<< /Kids [3 0 R 4 0 R] >>')), 1)
  })

  test('are found in an object stream however its dictionary ends', () => {
    const tree = '2 0 <</Kids[3 0 R 4 0 R]>>'
    const padding = ' '.repeat(2000)
    for (const end of ['\rstream\r', '\nstream \n', '%\nstream\n', `${padding}stream\n`]) {
      const stream = `9 0 obj <</N 1 /First 4>>${end}${tree} endstream`
      assert.equal(count(small, stream), 2, JSON.stringify(end))
    }
    const catalog = [1, '<< /Pages 8 0 R >>'] as const
    assert.equal(count(small, object(8, node(4, 5)), objectStream([catalog])), 2)
    assert.equal(count(small, objectStream([[2, '<< /#4bids [3 0 R 4 0 R] >>']])), 2)
    assert.equal(count(object(2, '<< /Kids 7 0 R >>'), objectStream([[7, '[3 0 R 4 0 R]']])), 2)
    assert.equal(count(small, object(9, '<< /First 3 0 R /Title (a stream\n) >>')), 1, 'an outline')
  })

  test('cannot be counted where programs may read other objects', () => {
    const tree = '<< /Kids [4 0 R 5 0 R] >>'
    for (const hidden of [
      ...['2%\n0 obj', '2 0%x\nobj', '2.0 0 obj', '+2 0 obj', '2 0.0 obj', `2 0${' '.repeat(300)}obj`].map(
        (header) => `\n${header} ${tree}`,
      ),
      `\n2 0%${'x'.repeat(300)}\nobj ${tree}`,
      `\n6 0 obj << /X endobj 2 0 obj ${tree}`,
      `\n6 0 obj (2 0 obj << /A ) ${tree}`,
      '\n2 0 obj << /Kids [4 0 R 5 0 R] /Kids [4 0 R] >>',
      '\n2 0 obj << /Kids [<<>> <<>>] >>',
      '\n2 0 obj << /Kids [2 0 R] >>',
      '\n2 0 obj << /Kids (4 0 R) >>',
      '\n2 0 obj << /Kids [4 0 R 5 R] >>',
      '\n2 0 obj << /Kids [4 0 R',
      '\n2 0 obj << /X <41)> >>',
      '\n2 0 obj << /X <41(>> endobj',
      '\n2 0 obj << /Kids [4 0 R 000000000005 0 R] >>',
      `\n2 0 obj ${'['.repeat(200)}${']'.repeat(200)}`,
      `\n1 0 obj << /Pages ${tree} >>`,
      `\ntrailer << /Root << /Pages 8 0 R >> >> 8 0 obj ${tree}`,
    ]) {
      assert.equal(count(small, hidden), undefined, hidden)
    }
  })

  test('cannot be counted if an object stream is in an unusual form', () => {
    const data = '2 0 <</Kids[3 0 R 4 0 R]>>'
    const compressed = deflateSync(Buffer.from(data))
    assert.equal(count(small, streamOf('<</N 1/First 4/Filter[/FlateDecode]>>', compressed)), 2)
    for (const [dictionary, stream] of [
      ['<</N 1/First 4/Filter/ASCIIHexDecode>>', data],
      ['<</N 1/First 4/Filter[/FlateDecode/FlateDecode]>>', deflateSync(compressed)],
      ['<</N 1/First 4/Filter/FlateDecode/DecodeParms<</Predictor 12>>>>', compressed],
      ['<</N 1/First 4/F#69lter/FlateDecode>>', compressed],
      ['<</N 1/First 4/Filter/Fl>>', compressed],
      ['<</N 1/First 4/Filter/FlateDecode>>', data],
      ['<</N 1/First 4/Filter/FlateDecode>>', compressed.subarray(0, -5)],
      ['<</N 2/First 4>>', data],
      ['<</N 1/First 9>>', data],
      ['<</N 7 0 R/First 4>>', data],
      ['<</N 1/First 4 0 R>>', data],
      ['<</N 1/First 4/Filter 7 0 R>>', data],
      ['<</N 1/First 9>>', `2 0 6 23 ${data.slice(4)} 7`],
      ['<</First 4>>', data],
      ['<</N 2/First 8>>', '6 0 2 0 <</Kids[3 0 R 4 0 R]>>'],
      [`<</N 1/First 4/Length ${'1'.repeat(60)}%\n>>`, data],
    ] as const) {
      assert.equal(count(small, streamOf(dictionary, stream)), undefined, dictionary)
    }
    assert.equal(count(small, `9 0 obj <</N 1 /First 4>> stream ${data} endstream`), undefined, 'no line end')
    assert.equal(count(small, `9 0 obj <</N 1 /First 4>> stream\n${data}`), undefined, 'no end')
    const [first, second] = [
      streamOf(unread, deflateSync(Buffer.alloc(0))),
      streamOf(unread, deflateSync(Buffer.alloc(0))),
    ]
    assert.equal(count(small, first, second), 1)
    assert.equal(count(small, first.subarray(0, -18), second), undefined, 'one end for two')
  })

  test('cannot be counted in a file that is none or breaks off', () => {
    for (const compressed of [false, true]) {
      const whole = pdfOf(2, { compressed })
      assert.equal(countPdfPages(whole.subarray(9), 100), undefined)
      assert.equal(countPdfPages(whole.subarray(0, whole.indexOf('%%EOF')), 100), undefined)
    }
    assert.equal(countPdfPages(Buffer.from('%PDF-1.7\n1 0 obj << /Type /Catalog >> endobj\n%%EOF'), 100), undefined)
    assert.equal(countPdfPages(Buffer.alloc(0), 100), undefined)
  })

  test('are counted in files with much else: forms, names, text that looks like objects', () => {
    const texts = 'BT (the object 12 obj, /Kids/toys) Tj ET\nobj\nan objective\nxobj 0 obj '
    const others = [
      object(20, '<< /FT /Btn /T (a) /Kids [21 0 R 22 0 R 23 0 R] >>'),
      object(28, '<< /Title (The trailer) /Prev 20 0 R >>'),
      object(24, '<< /Names << /Kids [25 0 R 26 0 R] >> >>'),
      object(27, '<< /Subtype /Link /A << /URI (https://example.com/Pages/Kids/2) >> >>'),
      streamOf('<< /Length 70 >>', texts),
      objectStream([
        [30, '<< /S /GoTo /Dest [3 0 R /XYZ null -.5 +4] >>'],
        [31, '[<< /Nums 7 >> true]'],
        [32, '12'],
      ]),
    ]
    assert.equal(count(small, ...others), 1)
    assert.equal(count(...others, small), 1)
  })

  test('are not looked for without bounds', () => {
    const large = (mebibytes: number) => streamOf(unread, deflateSync(Buffer.alloc(mebibytes * 1024 * 1024)))
    assert.equal(count(small, large(7)), 1)
    assert.equal(count(small, large(9)), undefined)
    assert.equal(count(small, large(5), large(5)), undefined)
    const empty = streamOf(unread, deflateSync(Buffer.alloc(0)))
    assert.equal(count(small, ...Array.from({ length: 1000 }, () => empty)), 1)
    assert.equal(count(small, ...Array.from({ length: 1001 }, () => empty)), undefined)
    const words = (mebibytes: number) => object(6, `[${'null '.repeat(mebibytes * 200_000)}]`)
    assert.equal(count(small, words(2)), 1)
    assert.equal(count(small, words(4)), undefined)
    assert.equal(count(small, words(2), words(2)), undefined)
    assert.equal(count(small, 'x obj'.repeat(60_000)), 1)
    assert.equal(count(small, 'x obj'.repeat(65_000)), undefined)
    assert.equal(count(small, 'x\nobj'.repeat(900)), 1)
    assert.equal(count(small, 'x\nobj'.repeat(1100)), undefined, 'places that take longer')
    assert.equal(count(small, object(6, '7').repeat(30_000)), 1)
    assert.equal(count(small, object(6, '7').repeat(33_000)), undefined)
    assert.equal(count(small, object(6, node(7)).repeat(20_000)), undefined, 'nodes take longer')
    assert.equal(count(small, '9 0 obj<</First 1>>%'.repeat(3000)), undefined, 'comments of comments')
    const index = Array.from({ length: 210_000 }, (_, number) => `${number} ${number * 4} `).join('')
    const many = `${index}${'<<>>'.repeat(210_000)}`
    assert.equal(count(small, streamOf(`<</N 210000/First ${index.length}>>`, many)), undefined)
  })

  test('take no more work together than one file can', () => {
    const large = pdfWith(small, streamOf(unread, deflateSync(Buffer.alloc(5 * 1024 * 1024))))
    const many = pdfWith(small, ...Array.from({ length: 600 }, () => streamOf(unread, deflateSync(Buffer.alloc(0)))))
    for (const file of [large, many]) {
      const work = createPdfWork()
      assert.deepEqual(
        [1, 2, 3].map(() => countPdfPages(file, 100, work)),
        [1, undefined, undefined],
      )
    }
  })

  test('may be anything: no bytes make the count fail', () => {
    const word = fc.constantFrom(
      '%PDF-',
      '%%EOF',
      '\n2 0 obj',
      '<<',
      '>>',
      '/Kids[',
      '3 0 R',
      ']',
      '/First 4/N 1',
      'stream\n',
      'endstream',
      '\xff\0',
      '2 0 ',
      'trailer',
      '(',
      ')',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(word, fc.string())), (words) => {
        const pages = countPdfPages(pdfWith(words.join('')), 10)
        assert.ok(pages === undefined || (pages > 0 && pages <= 11))
      }),
      draws({ test: 50, endure: 1000 }),
    )
  })
})
