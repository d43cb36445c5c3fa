import type { FilePart } from '../../models/conversation.ts'
import { isFields, mustBe, type Fields } from './body.ts'
import { readCacheMark } from './cache-marks.ts'
import { readDataUrl } from './files.ts'
import { checkedText, refuseOthers } from './messages.ts'

/** The images and documents of OpenAI's chats. Every function throws Problem `invalid_field`. */

/** Undefined for a part of another type. */
export function readChatFile(part: Fields, place: string): FilePart | undefined {
  switch (part['type']) {
    case 'image_url':
      return { ...readImage(part['image_url'], `${place}.image_url`), ...readMark(part, 'image_url', place) }
    case 'file':
      return { ...readDocument(part['file'], `${place}.file`), ...readMark(part, 'file', place) }
    default:
      return undefined
  }
}

function readMark(part: Fields, name: string, place: string): Pick<FilePart, 'cache'> {
  refuseOthers(part, ['type', name, 'cache_control'], place)
  const cache = readCacheMark(part['cache_control'], `${place}.cache_control`)
  return cache ? { cache } : {}
}

function readImage(image: unknown, place: string): FilePart {
  if (!isFields(image)) throw mustBe(place, 'an object with a url')
  refuseOthers(image, ['url', 'detail'], place)
  const { url, detail } = image
  if (detail !== undefined && detail !== 'low' && detail !== 'high' && detail !== 'auto') {
    throw mustBe(`${place}.detail`, 'low, high or auto')
  }
  return { ...readDataUrl(url, `${place}.url`, 'image'), ...(detail && { detail }) }
}

function readDocument(file: unknown, place: string): FilePart {
  if (!isFields(file)) throw mustBe(place, 'an object with file_data')
  if (file['file_id'] !== undefined)
    throw mustBe(`${place}.file_id`, 'omitted: no files are stored here. Send file_data')
  refuseOthers(file, ['filename', 'file_data'], place)
  const { filename, file_data: data } = file
  if (filename !== undefined && typeof filename !== 'string') throw mustBe(`${place}.filename`, 'a text')
  const name = filename === undefined ? {} : { name: checkedText(filename, `${place}.filename`) }
  return { ...readDataUrl(data, `${place}.file_data`, 'document'), ...name }
}
