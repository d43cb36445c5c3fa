import type { FilePart, TextPart } from '../../../models/conversation.ts'
import { isFields, mustBe, shownName, withoutNeutral, type Fields } from '../body.ts'
import { readBase64, readImageUrl, readMediaType } from '../files.ts'
import { checkedText, refuseOthers } from '../messages.ts'

/** The images and documents of Anthropic's messages. Every function throws Problem `invalid_field`. */

export function readImageBlock(block: Fields, place: string): FilePart {
  refuseOthers(block, ['type', 'source', 'cache_control'], place)
  return readSource(sourceOf(block, place), `${place}.source`, 'image')
}

/** A PDF is a file. A plain text is a text, after its title. */
export function readDocumentBlock(block: Fields, place: string): FilePart | TextPart {
  refuseOthers(block, ['type', 'source', 'title', 'cache_control'], place)
  const { title } = block
  if (title !== undefined && typeof title !== 'string') throw mustBe(`${place}.title`, 'a text')
  const name = title && checkedText(title, `${place}.title`)
  const source = sourceOf(block, place)
  if (source['type'] === 'text') {
    const text = readPlain(source, `${place}.source`)
    return { kind: 'text', text: name ? `${name}\n\n${text}` : text }
  }
  return { ...readSource(source, `${place}.source`, 'document'), ...(name && { name }) }
}

function sourceOf(block: Fields, place: string): Fields {
  const source = withoutNeutral(block['source'], {})
  if (!isFields(source)) throw mustBe(`${place}.source`, 'an object with a type')
  return source
}

/** Why a type of source is not supported. */
const unsupported: Readonly<Record<string, string>> = {
  url: ': documents are not fetched from URLs here',
  file: ': no files are stored here',
}

function readSource(source: Fields, place: string, kind: 'image' | 'document'): FilePart {
  const { type, media_type: mediaType, data } = source
  if (type === 'url' && kind === 'image') {
    refuseOthers(source, ['type', 'url'], place)
    return readImageUrl(source['url'], `${place}.url`)
  }
  if (type !== 'base64') {
    const named = typeof type === 'string' ? `: ${shownName(type)} is not supported here` : ''
    const why = typeof type === 'string' && Object.hasOwn(unsupported, type) ? unsupported[type] : named
    throw mustBe(`${place}.type`, `${kind === 'image' ? 'base64' : 'base64 or text'}${why}`)
  }
  refuseOthers(source, ['type', 'media_type', 'data'], place)
  return readBase64(data, readMediaType(mediaType, `${place}.media_type`, kind), `${place}.data`, kind)
}

function readPlain(source: Fields, place: string): string {
  refuseOthers(source, ['type', 'media_type', 'data'], place)
  if (source['media_type'] !== 'text/plain') throw mustBe(`${place}.media_type`, 'text/plain')
  const { data } = source
  if (typeof data !== 'string') throw mustBe(`${place}.data`, 'a text')
  return checkedText(data, `${place}.data`)
}
