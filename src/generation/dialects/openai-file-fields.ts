import type { FilePart } from '../../models/conversation.ts'
import { mustBe, type Fields } from './body.ts'
import { readDataUrl } from './files.ts'
import { checkedText } from './messages.ts'

/** The fields of images and documents in both of OpenAI's APIs. Every function throws Problem `invalid_field`. */

/** `field` is the URL of the image. */
export function readImageUrl(url: unknown, field: string, detail: unknown, place: string): FilePart {
  if (detail !== undefined && detail !== 'low' && detail !== 'high' && detail !== 'auto') {
    throw mustBe(`${place}.detail`, 'low, high or auto')
  }
  return { ...readDataUrl(url, field, 'image'), ...(detail && { detail }) }
}

export function readFileData({ filename, file_data: data }: Fields, place: string): FilePart {
  if (filename !== undefined && typeof filename !== 'string') throw mustBe(`${place}.filename`, 'a text')
  const name = filename === undefined ? {} : { name: checkedText(filename, `${place}.filename`) }
  return { ...readDataUrl(data, `${place}.file_data`, 'document'), ...name }
}

/** Files that OpenAI would keep or fetch. `instead` is the field to send. */
export function refuseElsewhere(fields: Fields, instead: string, place: string): void {
  if (fields['file_id'] !== undefined) {
    throw mustBe(`${place}.file_id`, `omitted: no files are stored here. Send ${instead}`)
  }
  if (fields['file_url'] !== undefined) {
    throw mustBe(`${place}.file_url`, `omitted: nothing is fetched from URLs here. Send ${instead}`)
  }
}
