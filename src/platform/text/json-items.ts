import { UnreadableLine } from './text-stream.ts'

/** A piece of a JSON document, not parsed yet, with the line on which it begins. */
export interface JsonPiece {
  readonly line: number
  readonly text: string
}

/** What is left of a document without the items of its list. */
interface JsonRest extends JsonPiece {
  readonly hasList: boolean
}

interface SplitJson {
  readonly items: readonly JsonPiece[]
  /** The documents that ended. */
  readonly rests: readonly JsonRest[]
}

/** Splits JSON into the items of a list, as far as it has arrived. Throws UnreadableLine. */
interface JsonSplitter {
  push(this: void, text: string): SplitJson
  end(this: void): SplitJson
  /** The characters of the item and of the document that have not ended. */
  pending(this: void): number
}

/** Characters of an item, unless its reader says otherwise, and of a document without its items. */
const [longestItem, longestRest] = [32_000_000, 1_000_000]
/** Characters before a list among which its name is looked for. */
const tailLength = 200

/** An item is longer than its reader takes. */
export class LongItem extends UnreadableLine {}

interface JsonItems {
  /** The line on which the text begins. Default 1. */
  readonly firstLine?: number
  /** Characters that an item may have. Throws LongItem for more. */
  readonly longest?: number
}

/**
 * Splits consecutive documents, each of which is a list, or an object with a list under one of these names. Items are returned unparsed, with
 * their lines, so a file takes no more memory than its longest item.
 */
export function createJsonSplitter(
  names: readonly string[],
  { firstLine = 1, longest = longestItem }: JsonItems = {},
): JsonSplitter {
  let line = firstLine
  /** Characters before the text that `push` was given. */
  let read = 0
  let depth = 0
  /** The depth of the list's items; 0 outside of the list. */
  let listDepth = 0
  let hasList = false
  let inString = false
  /** The position of a character that a backslash escapes. */
  let escaped = -1
  let item: JsonPiece | undefined
  let isAfterComma = false
  let rest: JsonPiece = { line, text: '' }
  /** Its end, where the name of a list is. */
  let tail = ''
  let items: JsonPiece[] = []
  let rests: JsonRest[] = []

  function append(text: string): void {
    if (item === undefined) {
      rest = grown(rest, text, longestRest, noList)
      tail = (tail + text.slice(-tailLength)).slice(-tailLength)
    } else item = grown(item, text, longest, tooLong)
  }
  function endItem(isLast: boolean): void {
    if (item !== undefined && (!isLast || isAfterComma || item.text.trim() !== '')) items.push(trimmed(item))
    isAfterComma = !isLast
    item = isLast ? undefined : { line, text: '' }
  }
  function endDocument(): void {
    if (rest.text.trim() !== '') rests.push({ ...trimmed(rest), hasList })
    rest = { line, text: '' }
    tail = ''
    hasList = false
  }
  function isList(sign: string): boolean {
    if (sign !== '[' || hasList || depth > 1) return false
    return depth === 0 || names.includes(/(?<!\\)"([^"\\]*)"\s*:\s*$/.exec(tail)?.[1] ?? '')
  }
  /** Handles a sign outside strings, after what precedes it. Returns whether it belongs neither to an item nor to the rest. */
  function structure(sign: string): boolean {
    if (sign === '{' || sign === '[') {
      const opens = isList(sign)
      depth += 1
      if (!opens) return false
      rest = grown(rest, sign, longestRest, noList)
      listDepth = depth
      hasList = true
      item = { line, text: '' }
      return true
    }
    const isInList = listDepth > 0 && depth === listDepth
    if (sign === ',' && isInList) {
      endItem(false)
      return true
    }
    if (sign === '}' || sign === ']') {
      if (isInList) {
        endItem(true)
        listDepth = 0
      }
      depth -= 1
    }
    return false
  }
  const taken = (): SplitJson => {
    const split = { items, rests }
    items = []
    rests = []
    return split
  }

  return {
    push(text) {
      let start = 0
      for (const { 0: sign, index } of text.matchAll(/["\\{}[\],\n]/g)) {
        if (sign === '\n') line += 1
        else if (inString) {
          if (read + index === escaped) continue
          if (sign === '\\') escaped = read + index + 1
          else if (sign === '"') inString = false
        } else if (sign === '"') inString = true
        else {
          append(text.slice(start, index))
          start = structure(sign) ? index + 1 : index
          if (depth > 0 || sign === ',') continue
          append(text.slice(start, index + 1))
          start = index + 1
          endDocument()
        }
      }
      append(text.slice(start))
      read += text.length
      return taken()
    },
    pending: () => rest.text.length + (item?.text.length ?? 0),
    end() {
      if (depth !== 0 || inString) throw new UnreadableLine(line, 'the JSON ends before it is complete')
      endDocument()
      return taken()
    },
  }
}

function grown({ line, text }: JsonPiece, more: string, longest: number, excess: (line: number) => Error): JsonPiece {
  if (text.length + more.length > longest) throw excess(line)
  return { line, text: text + more }
}

const noList = (line: number): Error => new UnreadableLine(line, 'there is no list of usage that can be read here')
const tooLong = (line: number): Error => new LongItem(line, 'this entry is too long')

function trimmed({ line, text }: JsonPiece): JsonPiece {
  const [space = ''] = /^\s*/.exec(text) ?? []
  return { line: line + space.split('\n').length - 1, text: text.trim() }
}
