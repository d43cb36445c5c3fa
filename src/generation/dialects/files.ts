import { filesOf, type Extent, type FilePart, type Message } from '../../models/conversation.ts'
import { gifSize, jpegSize, pngSize, webpSize, type ReadImageSize } from '../files/image-sizes.ts'
import { countPdfPages, createPdfWork } from '../files/pdf-pages.ts'
import { mustBe } from './body.ts'

/** Images and documents in requests, the same in all dialects. Every function throws Problem `invalid_field`, which never quotes a file. */

/** The limits that OpenAI and Anthropic document, the lower of both: files of a request, and bytes, pixels and pages of a file. */
const most = { files: 100, imageBytes: 5 * 1024 ** 2, side: 8000, documentBytes: 24 * 1024 ** 2, pages: 600 }

type Kind = 'image' | 'document'

interface FileType {
  readonly name: string
  readonly mostBytes: number
  /** Undefined for bytes that are not a complete file of the type. */
  readonly measure: (bytes: Buffer, field: string) => Extent | undefined
}

const image = (name: string, sizeOf: ReadImageSize): FileType => ({
  name,
  mostBytes: most.imageBytes,
  measure(bytes, field) {
    const size = sizeOf(bytes)
    if (!size || size.width === 0 || size.height === 0) return undefined
    if (Math.max(size.width, size.height) <= most.side) return size
    throw mustBe(field, `an image of at most ${most.side} by ${most.side} pixels`)
  },
})

/** What is left for the PDFs of the request that is being read. Reading does not wait, so that there is only one. */
let pdfWork = createPdfWork()

/** Begins to read the files of a request. A hundred PDFs together take no more work than one can. */
export function beginFiles(): void {
  pdfWork = createPdfWork()
}

const pdf: FileType = {
  name: 'PDF without a password, whose pages can be counted',
  mostBytes: most.documentBytes,
  measure(bytes, field) {
    const pages = countPdfPages(bytes, most.pages, pdfWork)
    if (pages !== undefined && pages > most.pages) throw mustBe(field, `a PDF of at most ${most.pages} pages`)
    return pages === undefined ? undefined : { pages }
  },
}

const types: Readonly<Record<Kind, Readonly<Record<string, FileType>>>> = {
  image: {
    'image/png': image('PNG image', pngSize),
    'image/jpeg': image('JPEG image', jpegSize),
    'image/gif': image('GIF image', gifSize),
    'image/webp': image('WebP image', webpSize),
  },
  document: { 'application/pdf': pdf },
}

/** A name that some programs use for JPEG. */
const synonyms: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' }

/** Reads a file from its data URL (RFC 2397). Nothing is ever fetched. */
export function readDataUrl(url: unknown, field: string, kind: Kind): FilePart {
  if (typeof url === 'string' && /^https?:/i.test(url)) {
    throw mustBe(field, 'a data URL with the file itself: nothing is fetched from URLs here')
  }
  const [example = ''] = Object.keys(types[kind])
  const comma = typeof url === 'string' ? url.slice(0, 200).indexOf(',') : -1
  if (typeof url !== 'string' || comma < 0) throw mustBe(field, `a data URL such as data:${example};base64,…`)
  const [, mediaType] = /^data:([\w/+.-]+)(?:;[\w-]+=[^;]*)*;base64$/i.exec(url.slice(0, comma)) ?? []
  if (mediaType === undefined) throw mustBe(field, `a data URL such as data:${example};base64,…`)
  return readBase64(url.slice(comma + 1), readMediaType(mediaType.toLowerCase(), field, kind), field, kind)
}

/** Returns a media type that is accepted for the kind. */
export function readMediaType(mediaType: unknown, field: string, kind: Kind): string {
  const name = typeof mediaType === 'string' ? (synonyms[mediaType] ?? mediaType) : ''
  if (Object.hasOwn(types[kind], name)) return name
  throw mustBe(field, `of type ${Object.keys(types[kind]).join(', ')}`)
}

/** Reads a file that must be what its media type says, from its signature to its end. */
export function readBase64(data: unknown, mediaType: string, field: string, kind: Kind): FilePart {
  const type = types[kind][mediaType]
  if (!type || typeof data !== 'string') throw mustBe(field, 'a text in base64')
  if (data.length > Math.ceil(type.mostBytes / 3) * 4) {
    throw mustBe(field, `${kind === 'image' ? 'an image' : 'a document'} of at most ${type.mostBytes / 1024 ** 2} MiB`)
  }
  const extent = type.measure(decoded(data, field), field)
  if (!extent) throw mustBe(field, `a complete ${type.name}, as its media type says`)
  return { kind: 'file', mediaType, data, extent, field }
}

/** Base64 with padding and nothing else (RFC 4648, section 4). Node skips other characters, so the length shows them. */
function decoded(data: string, field: string): Buffer {
  const bytes = Buffer.from(data, 'base64')
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  const isWhole = data.length % 4 === 0 && bytes.length === (data.length / 4) * 3 - padding
  if (data !== '' && isWhole && !data.includes('-') && !data.includes('_')) return bytes
  throw mustBe(field, 'in base64, with padding and without line breaks')
}

/** Refuses too many files in a conversation. */
export function checkFileCount(messages: readonly Message[], field: string): void {
  if (filesOf(messages).length > most.files) throw mustBe(field, `a conversation with at most ${most.files} files`)
}
