import type { FilePart } from '../../../models/conversation.ts'
import { isFields, mustBe, withoutNeutral, type Fields } from '../body.ts'
import { readCacheMark, refuseOthers } from '../messages.ts'
import { readFileData, readImageUrl, refuseElsewhere } from '../openai.ts'

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

function readImage(value: unknown, place: string): FilePart {
  const image = withoutNeutral(value, {})
  if (!isFields(image)) throw mustBe(place, 'an object with a url')
  refuseOthers(image, ['url', 'detail'], place)
  return readImageUrl(image['url'], `${place}.url`, image['detail'], place)
}

function readDocument(value: unknown, place: string): FilePart {
  const file = withoutNeutral(value, {})
  if (!isFields(file)) throw mustBe(place, 'an object with file_data')
  refuseElsewhere(file, 'file_data', place)
  refuseOthers(file, ['filename', 'file_data'], place)
  return readFileData(file, place)
}
