import type { FilePart } from '../../../models/conversation.ts'
import type { Fields } from '../body.ts'
import { refuseOthers } from '../messages.ts'
import { readFileData, readImageUrl, refuseElsewhere } from '../openai-file-fields.ts'

/** Reads an image or a document of OpenAI's responses; undefined for a part of another type. Throws Problem `invalid_field`. */
export function readResponseFile(part: Fields, place: string): FilePart | undefined {
  switch (part['type']) {
    case 'input_image':
      refuseElsewhere(part, 'image_url', place)
      refuseOthers(part, ['type', 'image_url', 'detail'], place)
      return readImageUrl(part['image_url'], `${place}.image_url`, part['detail'], place)
    case 'input_file':
      refuseElsewhere(part, 'file_data', place)
      refuseOthers(part, ['type', 'filename', 'file_data'], place)
      return readFileData(part, place)
    default:
      return undefined
  }
}
