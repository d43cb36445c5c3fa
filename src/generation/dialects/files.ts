import { filesOf, type Extent, type FilePart, type Message, type Part, type Prompt } from '../../models/conversation.ts'
import { gifSize, jpegSize, pngSize, webpSize, type ReadImageSize } from '../files/image-sizes.ts'
import type { Problem } from '../../platform/problems.ts'
import { countPdfPages, createPdfWork, type PdfWork } from '../files/pdf-pages.ts'
import type { TextRequest } from '../request.ts'
import { mustBe } from './body.ts'

/** Images and documents in requests, the same in all dialects. Every function throws Problem `invalid_field`, which never quotes a file. */

/** The limits that OpenAI and Anthropic document, the lower of both: files of a request, and bytes, pixels and pages of a file. */
const most = { files: 100, imageBytes: 5 * 1024 ** 2, side: 8000, documentBytes: 24 * 1024 ** 2, pages: 600 }

type Kind = 'image' | 'document'

export const mostImageBytes = most.imageBytes

interface ImageType {
  readonly name: string
  readonly sizeOf: ReadImageSize
}

const imageTypes: Readonly<Record<string, ImageType>> = {
  'image/png': { name: 'PNG image', sizeOf: pngSize },
  'image/jpeg': { name: 'JPEG image', sizeOf: jpegSize },
  'image/gif': { name: 'GIF image', sizeOf: gifSize },
  'image/webp': { name: 'WebP image', sizeOf: webpSize },
}

const types: Readonly<Record<Kind, readonly string[]>> = {
  image: Object.keys(imageTypes),
  document: ['application/pdf'],
}

/** A name that some programs use for JPEG. */
const synonyms: Readonly<Record<string, string>> = { 'image/jpg': 'image/jpeg' }

/** Reads a file from its data URL (RFC 2397). An image may have the URL of a server instead, from which it is still to be fetched. */
export function readDataUrl(url: unknown, field: string, kind: Kind): FilePart {
  if (typeof url === 'string' && /^https?:/i.test(url)) {
    if (kind === 'image') return readImageUrl(url, field)
    throw mustBe(field, 'a data URL with the file itself: nothing is fetched from URLs here')
  }
  const [example] = types[kind]
  const comma = typeof url === 'string' ? url.slice(0, 200).indexOf(',') : -1
  if (typeof url !== 'string' || comma < 0) throw mustBe(field, `a data URL such as data:${example};base64,…`)
  const [, mediaType] = /^data:([\w/+.-]+)(?:;[\w-]+=[^;]*)*;base64$/i.exec(url.slice(0, comma)) ?? []
  if (mediaType === undefined) throw mustBe(field, `a data URL such as data:${example};base64,…`)
  return readBase64(url.slice(comma + 1), readMediaType(mediaType.toLowerCase(), field, kind), field, kind)
}

/** The most characters of a URL. */
const longestUrl = 8192

/** An image that is to be fetched. As for webhooks, only this machine itself is reached without TLS. */
export function readImageUrl(text: unknown, field: string): FilePart {
  const url = typeof text === 'string' && text.length <= longestUrl ? URL.parse(text) : null
  const isLocal = url !== null && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname)
  const isSecure = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)
  if (url === null || !isSecure || url.username + url.password !== '') {
    throw mustBe(field, 'a data URL, or one that starts with https:// and has no user name')
  }
  return { kind: 'file', mediaType: 'image/*', data: '', url: url.href, extent: undefined, field }
}

/** Returns a media type that is accepted for the kind. */
export function readMediaType(mediaType: unknown, field: string, kind: Kind): string {
  const name = typeof mediaType === 'string' ? (synonyms[mediaType] ?? mediaType) : ''
  if (types[kind].includes(name)) return name
  throw mustBe(field, `of type ${types[kind].join(', ')}`)
}

/** Reads a file. An image must be what its media type says, from its signature to its end. A document is not looked at yet. */
export function readBase64(data: unknown, mediaType: string, field: string, kind: Kind): FilePart {
  if (typeof data !== 'string') throw mustBe(field, 'a text in base64')
  const mostBytes = kind === 'image' ? most.imageBytes : most.documentBytes
  if (data.length > Math.ceil(mostBytes / 3) * 4) {
    throw mustBe(field, `${kind === 'image' ? 'an image' : 'a document'} of at most ${mostBytes / 1024 ** 2} MiB`)
  }
  const type = imageTypes[mediaType]
  return { kind: 'file', mediaType, data, extent: type && imageSize(decoded(data, field), type, field), field }
}

function imageSize(bytes: Buffer, { name, sizeOf }: ImageType, field: string): Extent {
  const size = sizeOf(bytes)
  if (!size || size.width === 0 || size.height === 0) throw incomplete(field, name)
  if (Math.max(size.width, size.height) <= most.side) return size
  throw mustBe(field, `an image of at most ${most.side} by ${most.side} pixels`)
}

const incomplete = (field: string, name: string): Problem => mustBe(field, `a complete ${name}, as its media type says`)

/** Whether the prompt has images that are not fetched yet, or documents whose pages are not counted yet. */
export const hasUnreadFiles = ({ messages }: Prompt): boolean =>
  filesOf(messages).some(({ extent }) => extent === undefined)

/** Counts the pages of the documents of a request. All of them together take no more work than one can. */
export function withPages(request: TextRequest): TextRequest {
  const { prompt } = request
  if (!hasUnreadFiles(prompt)) return request
  const work = createPdfWork()
  const counted = (file: FilePart): FilePart =>
    file.extent === undefined ? { ...file, extent: pagesOf(file, work) } : file
  return { ...request, prompt: { ...prompt, messages: withFiles(prompt.messages, counted) } }
}

/** The messages with other images and documents in the same places. */
export function withFiles(messages: readonly Message[], change: (file: FilePart) => FilePart): readonly Message[] {
  const changed = <Other extends Part>(part: Other | FilePart): Other | FilePart =>
    part.kind === 'file' ? change(part) : part
  const withContent = (part: Part): Part =>
    part.kind === 'result' ? { ...part, content: part.content.map((each) => changed(each)) } : changed(part)
  return messages.map((message) => (message.parts ? { ...message, parts: message.parts.map(withContent) } : message))
}

function pagesOf({ data, field }: FilePart, work: PdfWork): Extent {
  const pages = countPdfPages(decoded(data, field), most.pages, work)
  if (pages === undefined) throw incomplete(field, 'PDF without a password, whose pages can be counted')
  if (pages > most.pages) throw mustBe(field, `a PDF of at most ${most.pages} pages`)
  return { pages }
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
