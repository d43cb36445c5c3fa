import { crc32, deflateSync } from 'node:zlib'

/** Small files of each format, made here: valid, with no more than readers need. */

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

const u16le = (value: number): Buffer => Buffer.from([value & 0xff, value >>> 8])
const u24le = (value: number): Buffer => Buffer.from([value & 0xff, (value >>> 8) & 0xff, value >>> 16])

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([latin1(type), data])
  return Buffer.concat([u32(data.length), typed, u32(crc32(typed))])
}

/** A black image in shades of grey. `noise` is further data that does not compress. */
export function pngOf(width: number, height: number, noise = Buffer.alloc(0)): Buffer {
  const header = Buffer.concat([u32(width), u32(height), Buffer.from([8, 0, 0, 0, 0])])
  return Buffer.concat([
    latin1('\x89PNG\r\n\x1a\n'),
    pngChunk('IHDR', header),
    ...(noise.length > 0 ? [pngChunk('teSt', noise)] : []),
    pngChunk('IDAT', deflateSync(Buffer.alloc((width + 1) * Math.min(height, 100)))),
    pngChunk('IEND', Buffer.alloc(0)),
  ])
}

const segment = (marker: number, data: readonly number[]): Buffer =>
  Buffer.from([0xff, marker, (data.length + 2) >>> 8, (data.length + 2) & 0xff, ...data])

/** `frame` is the marker of its frame header: baseline by default. */
export function jpegOf(width: number, height: number, frame = 0xc0): Buffer {
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    // A thumbnail in a segment has an end of its own.
    segment(0xe1, [0xff, 0xd8, 0xff, 0xd9]),
    segment(0xc4, [0, 0, 0, 0]),
    Buffer.from([0xff]),
    segment(frame, [8, height >>> 8, height & 0xff, width >>> 8, width & 0xff, 1, 1, 0x11, 0]),
    segment(0xda, [1, 1, 0, 0, 63, 0]),
    Buffer.from([0x12, 0xff, 0x00, 0x34, 0xff, 0xd9]),
  ])
}

export function gifOf(width: number, height: number): Buffer {
  return Buffer.concat([
    latin1('GIF89a'),
    u16le(width),
    u16le(height),
    Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    Buffer.from([0x21, 0xf9, 4, 0, 0, 0, 0, 0]),
    Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4c, 1, 0]),
    Buffer.from([0x3b]),
  ])
}

function riff(...chunks: readonly (readonly [type: string, data: Buffer])[]): Buffer {
  const body = chunks.flatMap(([type, data]) => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(data.length)
    return [latin1(type), length, data, Buffer.alloc(data.length % 2)]
  })
  const whole = Buffer.concat([latin1('WEBP'), ...body])
  const length = Buffer.alloc(4)
  length.writeUInt32LE(whole.length)
  return Buffer.concat([latin1('RIFF'), length, whole])
}

const lossy = (width: number, height: number): Buffer =>
  Buffer.concat([Buffer.from([0x30, 1, 0, 0x9d, 0x01, 0x2a]), u16le(width), u16le(height), Buffer.from([0, 0, 0])])

export const lossyWebpOf = (width: number, height: number): Buffer => riff(['VP8 ', lossy(width, height)])

export function losslessWebpOf(width: number, height: number): Buffer {
  const bits = Buffer.alloc(6)
  bits[0] = 0x2f
  bits.writeUInt32LE((width - 1) | ((height - 1) << 14), 1)
  return riff(['VP8L', bits])
}

export const extendedWebpOf = (width: number, height: number): Buffer =>
  riff(
    ['VP8X', Buffer.concat([Buffer.alloc(4), u24le(width - 1), u24le(height - 1)])],
    ['ICCP', Buffer.alloc(3)],
    ['VP8 ', lossy(16, 16)],
  )

/** A PDF with such objects, and a catalog that names object 2 as the tree of pages. */
export const pdfWith = (...objects: readonly (string | Buffer)[]): Buffer =>
  Buffer.concat([
    latin1('%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n'),
    ...objects.map((each) => (typeof each === 'string' ? latin1(each) : each)),
    latin1('\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%EOF\n'),
  ])

/** An object stream with objects and their numbers. */
export function objectStream(objects: readonly (readonly [number: number, text: string])[]): Buffer {
  const texts = objects.map(([, text]) => text)
  const places = texts.map((_, index) => texts.slice(0, index).join('\n').length + Math.min(index, 1))
  const index = objects.map(([number], at) => `${number} ${places[at]}`).join(' ')
  const data = deflateSync(latin1(`${index}\n${texts.join('\n')}`))
  const keys = `/Type /ObjStm /N ${objects.length} /First ${index.length + 1} /Length ${data.length} /Filter /FlateDecode`
  return Buffer.concat([latin1(`9 0 obj\n<< ${keys} >>\nstream\r\n`), data, latin1('\nendstream\nendobj\n')])
}

/** `compressed`: its pages are in an object stream, as in most PDFs since version 1.5. */
export function pdfOf(pages: number, { compressed = false, note = '' } = {}): Buffer {
  const numbers = Array.from({ length: pages }, (_, index) => index + 10)
  const tree = `<< /Type /Pages /Kids [${numbers.map((number) => `${number} 0 R`).join(' ')}] /Count ${pages} >>`
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>'
  const objects = [[2, tree] as const, ...numbers.map((number) => [number, page] as const)]
  const written = objects.map(([number, text]) => `${number} 0 obj\n${text}\nendobj\n`)
  return pdfWith(`%${note}\n`, ...(compressed ? [objectStream(objects)] : written))
}
