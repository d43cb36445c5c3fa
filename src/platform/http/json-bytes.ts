/** Looks at the bytes of JSON (RFC 8259) before it is parsed, because parsing cannot be stopped. The bytes can be any. */

const sign = {
  quote: 0x22,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  openBrace: 0x7b,
  closeBrace: 0x7d,
}

/** More than any request needs: the parser takes a twentieth of a second for a megabyte of brackets. */
export const mostLevels = 256

/** Whether JSON is nested more deeply than that. Looks at a megabyte in some two milliseconds. */
export function isTooDeep(body: Buffer): boolean {
  let level = 0
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]
    if (byte === sign.quote) at = endOfText(body, at + 1)
    else if (byte === sign.openBracket || byte === sign.openBrace) level++
    else if (byte === sign.closeBracket || byte === sign.closeBrace) level--
    if (level > mostLevels) return true
  }
  return false
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

/** Only longer strings can be files here: shorter ones are counted as text, whatever they are. */
const leastFile = 512
/** The most bytes of files that are counted as text: of a hundred, as many as a request may have. */
export const mostOfShortFiles = 100 * leastFile

/**
 * Whether JSON has more than `most` bytes outside of long strings. Parsing so much would keep other requests waiting; this
 * reads no more than those bytes and skips the strings.
 */
export function hasMoreText(body: Buffer, most: number): boolean {
  let text = 0
  let isInside = false
  for (let at = 0; at < body.length && text <= most && body.length - at + text > most;) {
    const found = nextQuote(body, at)
    const end = found < 0 ? body.length : found + 1
    const isEscaped = isInside && backslashesBefore(body, found, at) % 2 === 1
    if (!isInside || isEscaped || end - at <= leastFile) text += end - at
    if (!isEscaped) isInside = !isInside
    at = end
  }
  return text > most
}

/** A call of `indexOf` takes as long as a look at a hundred bytes. */
function nextQuote(body: Buffer, start: number): number {
  for (let at = start; at < start + leastFile; at++) if (body[at] === sign.quote) return at
  return body.indexOf(sign.quote, start + leastFile)
}

function backslashesBefore(body: Buffer, end: number, start: number): number {
  let at = end
  while (at > start && body[at - 1] === sign.backslash) at--
  return end - at
}
