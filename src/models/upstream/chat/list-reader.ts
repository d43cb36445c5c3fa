import { parse } from './chat-completions.ts'
import { unusable } from '../failure.ts'
import { createBracketFinder } from './json-brackets.ts'

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
