import { randomInt } from 'node:crypto'

/** Looks at the bytes of JSON (RFC 8259) before it is parsed, because parsing cannot be stopped. The bytes can be any. */

const sign = {
  quote: 0x22,
  colon: 0x3a,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
}

/** More than any request needs. The parser takes a twentieth of a second for a megabyte of brackets, and a tenth for one of names. */
export const mostLevels = 256
export const mostNames = 10_000

/** What JSON has too much of: levels, or different field names. */
export type Excess =
  | { readonly of: 'levels' }
  | {
      readonly of: 'names'
      /** The field of the outermost object that has the names, or the first one too many if that object has them itself. */
      readonly field: string
      readonly isOutermost: boolean
    }

/** Whether JSON has too much to be parsed. Looks at a megabyte in some four milliseconds. */
export function findExcess(json: Buffer, levels = mostLevels): Excess | undefined {
  const names = createNameSet(mostNames)
  let level = 0
  const name = { start: 0, end: 0 }
  const outermost = { ...name }
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === sign.quote) {
      name.start = at + 1
      name.end = at = endOfText(json, at + 1)
    } else if (byte === sign.colon) {
      if (level <= 1) Object.assign(outermost, name)
      if (names.add(json, name.start, name.end) > mostNames) return tooManyNames(json, outermost, level)
    } else if (byte === sign.openBracket || byte === sign.openBrace) {
      if (++level > levels) return { of: 'levels' }
    } else if (byte === sign.closeBracket || byte === sign.closeBrace) level--
  }
  return undefined
}

function tooManyNames(json: Buffer, { start, end }: { start: number; end: number }, level: number): Excess {
  return { of: 'names', field: json.toString('utf8', start, end), isOutermost: level <= 1 }
}

/** The closing quote of a string that begins here, or the end of the body. */
function endOfText(body: Buffer, start: number): number {
  for (let at = start; ;) {
    const found = nextQuote(body, at)
    if (found < 0) return body.length
    if (backslashesBefore(body, found, at) % 2 === 0) return found
    at = found + 1
  }
}

/** Only longer strings can be files: shorter ones are counted as text, whatever they are. */
const leastFile = 512
/** The most bytes of files that are counted as text: of a hundred, as many as a request may have. */
export const mostOfShortFiles = 100 * leastFile

/**
 * Whether JSON has more than `most` bytes outside of files: long strings that begin as base64 or a data URL does. Parsing so
 * much would keep other requests waiting, as would parsing it again where a string is JSON, such as the arguments of a call.
 */
export function hasMoreText(body: Buffer, most: number): boolean {
  let text = 0
  let isInside = false
  for (let at = 0; at < body.length && text <= most && body.length - at + text > most;) {
    const found = nextQuote(body, at)
    const end = found < 0 ? body.length : found + 1
    const isEscaped = isInside && backslashesBefore(body, found, at) % 2 === 1
    if (!isInside || isEscaped || end - at <= leastFile || !beginsFile(body[at])) text += end - at
    if (!isEscaped) isInside = !isInside
    at = end
  }
  return text > most
}

/** Letters, digits, "+" and "/". */
function beginsFile(byte = 0): boolean {
  const lower = byte | 0x20
  return (lower >= 0x61 && lower <= 0x7a) || (byte >= 0x2f && byte <= 0x39) || byte === 0x2b
}

/** A call of `indexOf` takes about as long as checking this many bytes one by one. */
const shortLook = 100

function nextQuote(body: Buffer, start: number): number {
  for (let at = start; at < start + shortLook; at++) if (body[at] === sign.quote) return at
  return body.indexOf(sign.quote, start + shortLook)
}

function backslashesBefore(body: Buffer, end: number, start: number): number {
  let at = end
  while (at > start && body[at - 1] === sign.backslash) at--
  return end - at
}

/** The field names of JSON that were seen so far. */
interface NameSet {
  /** Adds the name between two places of the bytes. Returns how many different ones there are. */
  add(json: Buffer, start: number, end: number): number
}

/** Names are compared by their first bytes. A megabyte of JSON has few longer names. */
const mostCompared = 64
/** Differs in each process, so that no one can find names that collide. */
const seed = randomInt(2 ** 32)

/**
 * Creates a set for `most` names and one more, after which none may be added. Keeps a hash of each (FNV-1a) in a table with
 * open addressing: strings and a Set would take longer than the parser.
 */
function createNameSet(most: number): NameSet {
  const mask = 2 ** Math.ceil(Math.log2(2 * (most + 1))) - 1
  const table = new Uint32Array(mask + 1)
  let count = 0
  return {
    add(json, start, end) {
      const hash = hashOf(json, start, Math.min(end, start + mostCompared))
      let slot = hash & mask
      while (table[slot] !== 0 && table[slot] !== hash) slot = (slot + 1) & mask
      if (table[slot] === 0) {
        table[slot] = hash
        count++
      }
      return count
    },
  }
}

/** Never 0, which marks an empty slot. */
function hashOf(json: Buffer, start: number, end: number): number {
  let hash = seed
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (json[at] ?? 0), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0 || 1
}
