/** The sizes in the headers of images. Nothing is decoded. */

/** In pixels. */
interface ImageSize {
  readonly width: number
  readonly height: number
}

/** Returns undefined for bytes that are not a complete image of the format, from its signature to its end. */
export type ReadImageSize = (bytes: Buffer) => ImageSize | undefined

/** A type of four characters as a number. A file can have a chunk every few bytes, and numbers are compared without a copy. */
const typeOf = (name: string): number => Buffer.from(name, 'latin1').readUInt32BE()

const png = { header: typeOf('IHDR'), data: typeOf('IDAT'), end: typeOf('IEND') }
const pngSignature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** PNG (ISO/IEC 15948): a header, at least one chunk of data, and the end. */
export const pngSize: ReadImageSize = (bytes) => {
  if (!bytes.subarray(0, 8).equals(pngSignature)) return undefined
  let size: ImageSize | undefined
  let hasData = false
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = bytes.readUInt32BE(at)
    const type = bytes.readUInt32BE(at + 4)
    const next = at + 12 + length
    if (next > bytes.length) return undefined
    if (at === 8) {
      if (type !== png.header || length !== 13) return undefined
      size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
    }
    if (type === png.data) hasData = true
    if (type === png.end) return hasData ? size : undefined
    at = next
  }
  return undefined
}

/** The markers of JPEG (ITU-T T.81, table B.1). */
const jpeg = { startOfImage: 0xffd8, endOfImage: Buffer.from([0xff, 0xd9]), startOfScan: 0xda, fill: 0xff }

const isStartOfFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

/** Markers without a segment: TEM and RST. */
const isAlone = (marker: number): boolean => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)

/** JPEG: segments with a frame header up to the first scan, and an end after it. */
export const jpegSize: ReadImageSize = (bytes) => {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== jpeg.startOfImage) return undefined
  let size: ImageSize | undefined
  for (let at = 2; at + 4 <= bytes.length;) {
    if (bytes[at] !== 0xff) return undefined
    const marker = bytes.readUInt8(at + 1)
    if (marker === jpeg.fill || isAlone(marker)) {
      at += marker === jpeg.fill ? 1 : 2
      continue
    }
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2 || at + 2 + length > bytes.length) return undefined
    if (isStartOfFrame(marker)) {
      if (length < 8) return undefined
      size = { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    }
    // In the data of a scan, the marker of the end occurs only as that.
    if (marker === jpeg.startOfScan) return bytes.lastIndexOf(jpeg.endOfImage) > at ? size : undefined
    at += 2 + length
  }
  return undefined
}

/** The blocks of GIF89a, appendix A. */
const gif = { extension: 0x21, image: 0x2c, trailer: 0x3b }

/** GIF: the logical screen or what its images reach beyond it, at least one image, and the trailer. */
export const gifSize: ReadImageSize = (bytes) => {
  if (bytes.length < 14 || !/^GIF8[79]a$/.test(bytes.toString('latin1', 0, 6))) return undefined
  let [width, height] = [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]
  // Decoders differ in what they make of no screen.
  if (width === 0 || height === 0) return undefined
  let hasImage = false
  for (let at = 13 + colorTableBytes(bytes[10]); at < bytes.length;) {
    const kind = bytes[at]
    if (kind === gif.trailer) return hasImage ? { width, height } : undefined
    if (kind === gif.extension) at = afterSubBlocks(bytes, at + 2)
    else if (kind === gif.image && at + 10 < bytes.length) {
      hasImage = true
      width = Math.max(width, bytes.readUInt16LE(at + 1) + bytes.readUInt16LE(at + 5))
      height = Math.max(height, bytes.readUInt16LE(at + 3) + bytes.readUInt16LE(at + 7))
      at = afterSubBlocks(bytes, at + 11 + colorTableBytes(bytes[at + 9]))
    } else return undefined
  }
  return undefined
}

function colorTableBytes(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

/** The place after the last block of data: beyond the end if it is missing. */
function afterSubBlocks(bytes: Buffer, start: number): number {
  let at = start
  for (let length = bytes[at]; length; length = bytes[at]) at += length + 1
  return at + 1
}

/** WebP (RFC 9649): the canvas or the first frame, and at least one picture within the length that the file states. */
export const webpSize: ReadImageSize = (bytes) => {
  if (bytes.length < 20 || bytes.toString('latin1', 0, 4) !== 'RIFF') return undefined
  const end = bytes.readUInt32LE(4) + 8
  if (bytes.toString('latin1', 8, 12) !== 'WEBP' || end > bytes.length) return undefined
  let size: ImageSize | undefined
  for (let at = 12; at + 8 <= end;) {
    const type = bytes.readUInt32BE(at)
    const length = bytes.readUInt32LE(at + 4)
    if (at + 8 + length > end) return undefined
    if (at === 12) size = webpSizes.get(type)?.(bytes.subarray(at + 8, at + 8 + length))
    if (!size) return undefined
    if (webpPictures.has(type)) return size
    // Chunks have an even length.
    at += 8 + length + (length % 2)
  }
  return undefined
}

/** By the type of the first chunk: extended, lossy and lossless files. */
const webpSizes: ReadonlyMap<number, ReadImageSize> = new Map<number, ReadImageSize>([
  [
    typeOf('VP8X'),
    (chunk) =>
      chunk.length < 10 ? undefined : { width: chunk.readUIntLE(4, 3) + 1, height: chunk.readUIntLE(7, 3) + 1 },
  ],
  [
    typeOf('VP8 '),
    (chunk) =>
      chunk.length < 10 || chunk.readUIntBE(3, 3) !== 0x9d012a
        ? undefined
        : { width: chunk.readUInt16LE(6) & 0x3fff, height: chunk.readUInt16LE(8) & 0x3fff },
  ],
  [
    typeOf('VP8L'),
    (chunk) => {
      if (chunk.length < 5 || chunk[0] !== 0x2f) return undefined
      const bits = chunk.readUInt32LE(1)
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 }
    },
  ],
])

const webpPictures: ReadonlySet<number> = new Set(['VP8 ', 'VP8L', 'ANMF'].map(typeOf))
