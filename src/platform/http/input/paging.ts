import { Problem } from '../../problems.ts'
import { isUuid } from '../../database/uuid.ts'

/** The last row of a page: its sort key, and its id to order equal keys. */
export interface PagePosition {
  readonly key: string
  readonly id: string
}

/** The opaque text that clients of the API send to get the next page. */
export function cursorOf({ key, id }: PagePosition): string {
  return Buffer.from(JSON.stringify([key, id])).toString('base64url')
}

/** Throws Problem `invalid_field` unless the cursor comes from `cursorOf` with a valid key. */
export function positionOf(cursor: string | undefined, isKey: (text: string) => boolean): PagePosition | undefined {
  if (cursor === undefined) return undefined
  const parts = read(cursor)
  if (Array.isArray(parts)) {
    const [key, id] = parts as readonly unknown[]
    if (typeof key === 'string' && typeof id === 'string' && isKey(key) && isUuid(id)) return { key, id }
  }
  throw badCursor()
}

export function badCursor(): Problem {
  return new Problem('invalid_field', 'The field cursor must be the unchanged `next` of the previous page.', {
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

export function limitOf(limit: string | undefined, defaultLimit = 50): number {
  return limit === undefined ? defaultLimit : Number(limit)
}

/** The total of a list that counts one more than `most` at most. */
export const boundedTotal = (counted: number, most: number) => ({
  total: Math.min(counted, most),
  total_is_exact: counted <= most,
})
