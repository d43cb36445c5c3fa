import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { draws } from '../../../tests/support/draws.ts'
import {
  extendedWebpOf,
  gifOf,
  jpegOf,
  losslessWebpOf,
  lossyWebpOf,
  pngChunk,
  pngOf,
} from '../../../tests/support/sample-files.ts'
import { gifSize, jpegSize, pngSize, webpSize, type ReadImageSize } from './image-sizes.ts'

interface Format {
  readonly read: ReadImageSize
  readonly images: readonly ((width: number, height: number) => Buffer)[]
  readonly mostSide: number
}

const formats: Readonly<Record<string, Format>> = {
  PNG: { read: pngSize, images: [pngOf], mostSide: 20_000 },
  JPEG: { read: jpegSize, images: [jpegOf, (width, height) => jpegOf(width, height, 0xc2)], mostSide: 65_535 },
  GIF: { read: gifSize, images: [gifOf], mostSide: 65_535 },
  WebP: { read: webpSize, images: [lossyWebpOf, losslessWebpOf, extendedWebpOf], mostSide: 16_383 },
}

for (const [name, { read, images, mostSide }] of Object.entries(formats)) {
  describe(`the header of a ${name} image`, () => {
    test('has its size', () => {
      for (const make of images) {
        for (const [width, height] of [
          [1, 1],
          [640, 480],
          [3, mostSide],
          [mostSide, 258],
        ] as const) {
          assert.deepEqual(read(make(width, height)), { width, height })
        }
      }
    })

    test('is not enough: an image that breaks off anywhere is not complete', () => {
      for (const make of images) {
        const whole = make(20, 10)
        for (let length = 0; length < whole.length; length++) {
          assert.equal(read(whole.subarray(0, length)), undefined, `${length} of ${whole.length} bytes`)
        }
      }
    })

    test('is not that of another format', () => {
      for (const other of Object.values(formats)) {
        if (other.read !== read) for (const make of other.images) assert.equal(read(make(20, 10)), undefined)
      }
    })

    test('may be anything: no bytes make the reader fail', () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void read(Buffer.from(bytes))),
        draws({ test: 50, endure: 1000 }),
      )
      const [make = pngOf] = images
      const change = fc.tuple(fc.nat(), fc.nat(255))
      fc.assert(
        fc.property(
          fc.constantFrom(make, ...images),
          fc.array(change, { maxLength: 8 }),
          fc.nat(),
          (image, changes, cut) => {
            const bytes = Buffer.from(image(20, 10))
            for (const [at, value] of changes) bytes[at % bytes.length] = value
            const size = read(bytes.subarray(0, bytes.length - (cut % 8)))
            if (size) assert.ok(size.width >= 0 && size.height >= 0)
          },
        ),
        draws({ test: 100, endure: 6000 }),
      )
    })
  })
}

describe('an image that is', () => {
  const png = pngOf(20, 10)

  test('a PNG needs its header first, and data', () => {
    const [signature, end] = [png.subarray(0, 8), pngChunk('IEND', Buffer.alloc(0))]
    assert.equal(pngSize(Buffer.concat([signature, end])), undefined)
    assert.equal(pngSize(Buffer.concat([png.subarray(0, 33), end])), undefined)
    assert.equal(pngSize(Buffer.concat([signature, pngChunk('tEXt', Buffer.alloc(13)), png.subarray(8)])), undefined)
    assert.deepEqual(pngSize(Buffer.concat([png, Buffer.from('more')])), { width: 20, height: 10 })
  })

  test('a JPEG needs a frame before its scan, and an end after it', () => {
    const jpeg = jpegOf(20, 10)
    const frame = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
    assert.equal(jpegSize(Buffer.concat([jpeg.subarray(0, frame), jpeg.subarray(frame + 13)])), undefined)
    assert.equal(jpegSize(jpeg.subarray(0, -2)), undefined)
    assert.deepEqual(jpegSize(Buffer.concat([jpeg, Buffer.alloc(9)])), { width: 20, height: 10 })
  })

  test('a GIF is as large as its images where they reach beyond its screen', () => {
    const gif = gifOf(20, 10)
    const image = gif.indexOf(0x2c)
    for (const [place, value, size] of [
      [5, 500, { width: 500, height: 10 }],
      [7, 400, { width: 20, height: 400 }],
      [1, 30, { width: 31, height: 10 }],
      [3, 30, { width: 20, height: 31 }],
    ] as const) {
      const other = Buffer.from(gif)
      other.writeUInt16LE(value, image + place)
      assert.deepEqual(gifSize(other), size)
    }
    assert.equal(gifSize(gif.subarray(0, image + 8)), undefined)
  })

  test('a GIF needs an image', () => {
    const gif = gifOf(20, 10)
    const image = gif.indexOf(0x2c)
    assert.equal(gifSize(Buffer.concat([gif.subarray(0, image), Buffer.from([0x3b])])), undefined)
  })

  test('a WebP needs a picture, and the length that it states', () => {
    const whole = extendedWebpOf(20, 10)
    const canvas = Buffer.from(whole.subarray(0, 30))
    canvas.writeUInt32LE(22, 4)
    assert.equal(webpSize(canvas), undefined)
    const longer = Buffer.from(whole)
    longer.writeUInt32LE(whole.length, 4)
    assert.equal(webpSize(longer), undefined)
    const chunk = Buffer.from(whole)
    chunk.writeUInt32LE(1000, whole.indexOf('VP8 ') + 4)
    assert.equal(webpSize(chunk), undefined)
  })
})
