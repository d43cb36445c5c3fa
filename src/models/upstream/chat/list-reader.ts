import { parse } from './chat-completions.ts'
import { unusable } from '../failure.ts'

/** Reads a list in a JSON object that arrives in chunks, which may be cut anywhere. */
export interface ListReader {
  /** The objects of the list that this chunk completes, parsed one by one. Throws Failure. */
  push(chunk: Buffer): Generator<unknown, void, void>
  /** Call it after the last chunk. Returns the outermost object, with `{}` for each object of the list. Throws Failure. */
  end(): unknown
}

/** The most bytes of one object of the list, and of everything else. */
export interface ListBounds {
  readonly item: number
  readonly rest: number
}

/** Characters before the list, among which its name is looked for. */
const nameLength = 64

/**
 * A long text is never parsed at once, nor kept. JSON.parse checks all of it: each object of the list, and the rest with a
 * placeholder for each of them, which is JSON only if the whole is. The list is a field of the outermost object.
 */
export function createListReader(field: string, most: ListBounds): ListReader {
  const beforeList = new RegExp(`"${field}"\\s*:\\s*$`)
  const nextBracket = createBracketFinder()
  /** As Latin-1, because a chunk may end within a character. */
  let rest = ''
  let item: Buffer[] = []
  let itemBytes = 0
  /** Brackets and braces that are open: the outermost object, the list, an object of the list, and more. */
  let depth = 0
  let inList = false

  function keep(bytes: Buffer): void {
    if (inList && depth > 2) {
      item.push(bytes)
      itemBytes += bytes.length
    } else {
      rest += bytes.toString('latin1')
    }
    if (itemBytes > most.item || rest.length > most.rest) throw unusable('more bytes than any reply needs')
  }

  function takeItem(): unknown {
    const [first] = item
    const bytes = item.length === 1 && first ? first : Buffer.concat(item)
    item = []
    itemBytes = 0
    rest += '{}'
    return parse(bytes.toString())
  }

  function* push(chunk: Buffer): Generator<unknown, void, void> {
    const text = chunk.toString('latin1')
    let kept = 0
    for (let at = nextBracket(text, 0); at < text.length; at = nextBracket(text, at + 1)) {
      const opens = text[at] === '[' || text[at] === '{'
      const isItemEdge = inList && depth === (opens ? 2 : 3)
      const end = opens ? at : at + 1
      if (isItemEdge || (opens && depth === 1)) {
        keep(chunk.subarray(kept, end))
        kept = end
      }
      if (opens && depth === 1) inList = beforeList.test(rest.slice(-nameLength))
      depth += opens ? 1 : -1
      if (isItemEdge && !opens) yield takeItem()
    }
    keep(chunk.subarray(kept))
  }

  return Object.freeze({ push, end: () => parse(Buffer.from(rest, 'latin1').toString()) })
}

/**
 * Finds the brackets and braces outside the strings of a JSON text that arrives in chunks, which may be cut anywhere. The
 * function returns the first place from `from` on, or the chunk's length. Each chunk must be searched to its end.
 */
function createBracketFinder(): (chunk: string, from: number) => number {
  // Searches several times as fast as a loop over bytes.
  const mark = /["[\]{}]/g
  let inString = false
  /** Whether the chunk before ended with a backslash that escapes the first character of this one. */
  let escapes = false

  /** The place after the string that contains `from`. */
  function afterString(chunk: string, from: number): number {
    const start = escapes ? from + 1 : from
    escapes = false
    for (let at = chunk.indexOf('"', start); at !== -1; at = chunk.indexOf('"', at + 1)) {
      if (isEscaped(chunk, start, at)) continue
      inString = false
      return at + 1
    }
    escapes = isEscaped(chunk, start, chunk.length)
    return chunk.length
  }

  return (chunk, from) => {
    mark.lastIndex = inString ? afterString(chunk, from) : from
    while (mark.test(chunk)) {
      const at = mark.lastIndex - 1
      if (chunk[at] !== '"') return at
      inString = true
      mark.lastIndex = afterString(chunk, at + 1)
    }
    return chunk.length
  }
}

/** Whether an odd number of backslashes precedes the place. */
function isEscaped(chunk: string, start: number, at: number): boolean {
  let first = at
  while (first > start && chunk[first - 1] === '\\') first--
  return (at - first) % 2 === 1
}
