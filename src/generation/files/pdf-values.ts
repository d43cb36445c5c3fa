/**
 * The syntax of a PDF (ISO 32000-2, section 7.3), as far as it leads to the pages. Everything else is null: names, strings, other
 * numbers, true, false, and what stands deeper than a list of pages can.
 */
export type PdfValue = number | Reference | readonly PdfValue[] | PdfDictionary | null

/** The keys that lead to the pages: of the trailer, the catalog and a node of the tree. An object stream has the last one. */
export type PdfKey = 'Root' | 'Pages' | 'Kids' | 'First'
export type PdfDictionary = Map<PdfKey, PdfValue>

const isKey = (name: string): name is PdfKey =>
  name === 'Root' || name === 'Pages' || name === 'Kids' || name === 'First'

export class Reference {
  /** The number of the object. Which generation of it is meant does not matter here. */
  readonly object: number
  constructor(object: number) {
    this.object = object
  }
}

/** The file has syntax that programs read differently, or takes too much work. */
export class UnclearPdf extends Error {}

const regular = 0
const space = 1
const delimiter = 2

/** Section 7.2.3. */
const classes = new Uint8Array(256)
for (const byte of Buffer.from('\0\t\n\f\r ')) classes[byte] = space
for (const byte of Buffer.from('()<>[]{}/%')) classes[byte] = delimiter

const sign = {
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  percent: 0x25,
  open: 0x28,
  close: 0x29,
  slash: 0x2f,
  less: 0x3c,
  greater: 0x3e,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  zero: 0x30,
  nine: 0x39,
  capitalR: 0x52,
}

/** How a key can begin: a name can write its characters as numbers, such as #4b. */
const keyStarts = Buffer.from('RPKF#')

/** More may be another number in another program. */
const mostDigits = 10

/** A list of pages is an array in a dictionary: values further inside are read and forgotten. */
const deepestKept = 2
/** Programs give up at different depths. */
const mostDepth = 100

const referenceMark = Symbol('R')

/** Reads values of a file one after another. Throws UnclearPdf for what is not well-formed. */
export class PdfReader {
  readonly #bytes: Buffer
  readonly #end: number
  at: number

  /** Reads from `at`, and never beyond `end`. */
  constructor(bytes: Buffer, at: number, end: number) {
    this.#bytes = bytes
    this.#end = Math.min(end, bytes.length)
    this.at = at
  }

  /** Reads the next value; `depth` is how many values it is in. */
  value(depth = 0): PdfValue {
    this.skipSpace()
    if (classes[this.#byte()] !== regular) return this.#delimited(depth)
    const word = this.#word()
    if (word === referenceMark) throw new UnclearPdf()
    return word === null ? null : (this.#referenceFrom(word) ?? word)
  }

  /** Skips white space and comments. */
  skipSpace(): void {
    for (; this.at < this.#end; this.at++) {
      const byte = this.#bytes[this.at] ?? 0
      if (byte === sign.percent) this.#skipLine()
      else if (classes[byte] !== space) return
    }
  }

  #skipLine(): void {
    for (; this.at < this.#end; this.at++) {
      const byte = this.#bytes[this.at]
      if (byte === sign.lineFeed || byte === sign.carriageReturn) return
    }
  }

  #byte(at = this.at): number {
    const byte = at < this.#end ? this.#bytes[at] : undefined
    if (byte === undefined) throw new UnclearPdf()
    return byte
  }

  #delimited(depth: number): PdfValue {
    if (depth > mostDepth) throw new UnclearPdf()
    switch (this.#byte()) {
      case sign.slash:
        return this.#skipName()
      case sign.openBracket:
        return this.#array(depth)
      case sign.open:
        return this.#text()
      case sign.less:
        return this.#byte(this.at + 1) === sign.less ? this.#dictionary(depth) : this.#hexadecimal()
      default:
        throw new UnclearPdf()
    }
  }

  #skipWord(): void {
    while (this.at < this.#end && classes[this.#bytes[this.at] ?? 0] === regular) this.at++
  }

  #skipName(): null {
    this.at++
    this.#skipWord()
    return null
  }

  /** Null for a key that does not matter. Most names are not even copied, because a file has very many. */
  #key(): PdfKey | null {
    const start = this.at + 1
    this.#skipName()
    if (!keyStarts.includes(this.#bytes[start] ?? 0)) return null
    const name = this.#bytes.toString('latin1', start, this.at)
    const plain = name.replaceAll(/#([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    return isKey(plain) ? plain : null
  }

  /** An integer, null for other values, or the end of a reference. */
  #word(): number | null | typeof referenceMark {
    const start = this.at
    let integer = 0
    for (; this.at < this.#end; this.at++) {
      const byte = this.#bytes[this.at] ?? 0
      if (classes[byte] !== regular) return this.at - start > mostDigits ? null : integer
      if (byte < sign.zero || byte > sign.nine) break
      integer = integer * 10 + byte - sign.zero
    }
    this.#skipWord()
    const word = this.#bytes.toString('latin1', start, Math.min(this.at, start + 10))
    if (word === 'R') return referenceMark
    if (/^[-+.\d]/.test(word) || word === 'null' || word === 'true' || word === 'false') return null
    throw new UnclearPdf()
  }

  /** The reference that an integer begins, such as `3 0 R`. The integer stands alone if none follows. */
  #referenceFrom(object: number): Reference | undefined {
    const start = this.at
    if (
      this.#isWordNext() &&
      typeof this.#word() === 'number' &&
      this.#isWordNext() &&
      this.#word() === referenceMark
    ) {
      return new Reference(object)
    }
    this.at = start
    return undefined
  }

  /** Whether an integer or the end of a reference seems to follow. */
  #isWordNext(): boolean {
    this.skipSpace()
    const byte = this.#bytes[this.at] ?? 0
    return this.at < this.#end && ((byte >= sign.zero && byte <= sign.nine) || byte === sign.capitalR)
  }

  #array(depth: number): readonly PdfValue[] | null {
    const items: PdfValue[] = []
    for (this.at++, this.skipSpace(); this.#byte() !== sign.closeBracket; this.skipSpace()) {
      const word = classes[this.#byte()] === regular ? this.#word() : this.#delimited(depth + 1)
      if (word !== referenceMark) items.push(word)
      else {
        const [object, generation] = items.splice(-2)
        if (typeof object !== 'number' || typeof generation !== 'number') throw new UnclearPdf()
        items.push(new Reference(object))
      }
    }
    this.at++
    return depth < deepestKept ? items : null
  }

  #dictionary(depth: number): PdfDictionary | null {
    const entries = depth < deepestKept ? new Map<PdfKey, PdfValue>() : null
    for (this.at += 2, this.skipSpace(); this.#byte() === sign.slash; this.skipSpace()) {
      const key = entries ? this.#key() : this.#skipName()
      const value = this.value(depth + 1)
      if (key === null) continue
      if (entries?.has(key)) throw new UnclearPdf()
      entries?.set(key, value)
    }
    if (this.#byte() !== sign.greater || this.#byte(this.at + 1) !== sign.greater) throw new UnclearPdf()
    this.at += 2
    return entries
  }

  #text(): null {
    for (let depth = 0; ; this.at++) {
      const byte = this.#byte()
      if (byte === sign.backslash) this.at++
      else if (byte === sign.open) depth++
      else if (byte === sign.close && --depth === 0) {
        this.at++
        return null
      }
    }
  }

  #hexadecimal(): null {
    for (this.at++; this.#byte() !== sign.greater; this.at++) {
      if (classes[this.#byte()] === delimiter) throw new UnclearPdf()
    }
    this.at++
    return null
  }
}
