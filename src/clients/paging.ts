import { Problem } from '../platform/problems.ts'
import { isUuid } from '../platform/database/uuid.ts'

/** Where a page ends: the value that the list is sorted by, and the id that tells equal ones apart. */
export interface Place {
  readonly key: string
  readonly id: string
}

/** A place as people's addresses carry it. */
export function cursorOf({ key, id }: Place): string {
  return Buffer.from(JSON.stringify([key, id])).toString('base64url')
}

/** Throws Problem `invalid_field` when the text is not what `cursorOf` made of such a key. */
export function placeOf(cursor: string | undefined, isKey: (text: string) => boolean): Place | undefined {
  if (cursor === undefined) return undefined
  const parts = read(cursor)
  if (Array.isArray(parts)) {
    const [key, id] = parts as readonly unknown[]
    if (typeof key === 'string' && typeof id === 'string' && isKey(key) && isUuid(id)) return { key, id }
  }
  throw noPlace()
}

/** The refusal of a cursor that is none. */
export function noPlace(): Problem {
  return new Problem('invalid_field', 'The field cursor must be the `next` of the page before, as it came.', {
    field: 'cursor',
  })
}

function read(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    return undefined
  }
}

/** How many there may be on a page. */
export function limitOf(limit: string | undefined, usual = 50): number {
  return limit === undefined ? usual : Number(limit)
}
