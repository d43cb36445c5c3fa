import { recordId } from '../platform/database/uuid.ts'

/** An id with the prefix by which clients of an API know what it is of. */
const shown =
  (prefix: string) =>
  (id: string): string =>
    prefix + id.replaceAll('-', '')

export const shownFileId = shown('file-')
export const shownRequestId = shown('batch_req_')
export const shownBatchIds = { openai: shown('batch_'), anthropic: shown('msgbatch_') } as const

/** The id behind one of these. A malformed one becomes an id of nothing. */
export function idOf(text: string): string {
  const [, a, b, c, d, e] =
    /^(?:file-|batch_|msgbatch_)([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/.exec(text) ?? []
  return a === undefined ? recordId('') : [a, b, c, d, e].join('-')
}
