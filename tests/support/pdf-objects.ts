import { inflateSync } from 'node:zlib'

/** A reader of the objects of a PDF that is as strict as a validator: it trusts the table of references and nothing else. */
export type PdfValue = null | boolean | number | string | Buffer | PdfReference | PdfStream | PdfValue[] | PdfDictionary

/** Names are strings without their slash. */
export type PdfDictionary = Map<string, PdfValue>

export class PdfReference {
  readonly number: number
  constructor(number: number) {
    this.number = number
  }
}

export class PdfStream {
  readonly dictionary: PdfDictionary
  readonly raw: Buffer
  constructor(dictionary: PdfDictionary, raw: Buffer) {
    this.dictionary = dictionary
    this.raw = raw
  }

  get content(): Buffer {
    return this.dictionary.get('Filter') === 'FlateDecode' ? inflateSync(this.raw) : this.raw
  }
}

export interface PdfObjects {
  readonly trailer: PdfDictionary
  readonly all: ReadonlyMap<number, PdfValue>
  /** The value, or the object that a reference names. */
  resolve(this: void, value: PdfValue | undefined): PdfValue
  /** The dictionary of a dictionary, a stream or a reference to one; empty for anything else. */
  dictionary(this: void, value: PdfValue | undefined): PdfDictionary
  list(this: void, value: PdfValue | undefined): readonly PdfValue[]
}

/** Reads all objects. Throws if an offset of the table is not that of its object, or the length of a stream is wrong. */
export function readPdfObjects(bytes: Uint8Array): PdfObjects {
  const text = Buffer.from(bytes).toString('latin1')
  const start = Number(/startxref\n(\d+)\n%%EOF\n?$/.exec(text)?.[1] ?? Number.NaN)
  const table = /^xref\n0 (\d+)\n/.exec(text.slice(start))
  if (table === null) throw new Error('startxref does not lead to the table of references')
  const entries = text.slice(start + table[0].length).match(/\d{10} \d{5} [nf]\s{2}|\d{10} \d{5} [nf] ?\r?\n/g) ?? []
  if (entries.length !== Number(table[1])) throw new Error(`the table has ${entries.length} entries, not ${table[1]}`)
  const all = new Map<number, PdfValue>()
  const later: (() => void)[] = []
  for (const [number, entry] of entries.entries()) {
    if (!entry.includes('n')) continue
    const reader = new Reader(text, Number(entry.slice(0, 10)))
    reader.expect(new RegExp(`${number} 0 obj\\s`, 'y'))
    const value = reader.value()
    if (value instanceof Map && reader.accepts(/\s*stream\r?\n/y)) {
      // Its length may be an object that comes later.
      later.push(() => {
        const length = resolve(value.get('Length'))
        all.set(number, new PdfStream(value, reader.take(typeof length === 'number' ? length : -1)))
        reader.expect(/\r?\nendstream\s+endobj/y)
      })
    } else {
      reader.expect(/\s*endobj/y)
    }
    all.set(number, value)
  }
  const resolve = (value: PdfValue | undefined): PdfValue =>
    value instanceof PdfReference ? (all.get(value.number) ?? null) : (value ?? null)
  for (const read of later) read()
  const trailer = new Reader(text, text.lastIndexOf('trailer') + 'trailer'.length).value()
  if (!(trailer instanceof Map)) throw new Error('the file has no trailer')
  return {
    trailer,
    all,
    resolve,
    dictionary(value) {
      const found = resolve(value)
      return found instanceof PdfStream ? found.dictionary : found instanceof Map ? found : new Map()
    },
    list(value) {
      const found = resolve(value)
      return Array.isArray(found) ? found : []
    },
  }
}

/** Reads values from a position on. */
class Reader {
  readonly #text: string
  #at: number
  constructor(text: string, at: number) {
    this.#text = text
    this.#at = at
  }

  take(length: number): Buffer {
    const taken = this.#text.slice(this.#at, this.#at + length)
    this.#at += length
    return Buffer.from(taken, 'latin1')
  }

  expect(pattern: RegExp): RegExpExecArray {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) throw new Error(`${pattern.source} is not at ${this.#at}`)
    this.#at = pattern.lastIndex
    return match
  }

  accepts(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at
    if (!pattern.test(this.#text)) return false
    this.#at = pattern.lastIndex
    return true
  }

  value(): PdfValue {
    this.expect(/\s*/y)
    if (this.accepts(/<</y)) return this.#dictionary()
    if (this.accepts(/\[/y)) return this.#array()
    if (this.accepts(/\(/y)) return this.#string()
    if (this.accepts(/</y)) return Buffer.from((this.expect(/([\dA-Fa-f\s]*)>/y)[1] ?? '').replaceAll(/\s/g, ''), 'hex')
    if (this.accepts(/\//y)) return this.#name()
    if (this.accepts(/true\b/y)) return true
    if (this.accepts(/false\b/y)) return false
    if (this.accepts(/null\b/y)) return null
    const [, number = '', isReference] = this.expect(/([+-]?(?:\d+\.?\d*|\.\d+))( 0 R\b)?/y)
    return isReference === undefined ? Number(number) : new PdfReference(Number(number))
  }

  #name(): string {
    const [name] = this.expect(/[^\s()<>[\]{}/%]*/y)
    return name.replaceAll(/#([\dA-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  }

  #dictionary(): PdfDictionary {
    const entries: PdfDictionary = new Map()
    while (!this.accepts(/\s*>>/y)) {
      this.expect(/\s*\//y)
      entries.set(this.#name(), this.value())
    }
    return entries
  }

  #array(): PdfValue[] {
    const values: PdfValue[] = []
    while (!this.accepts(/\s*\]/y)) values.push(this.value())
    return values
  }

  #string(): Buffer {
    const parts: string[] = []
    for (let depth = 1; ;) {
      const [part] = this.expect(/\\[0-7]{1,3}|\\[^]|[^\\]/y)
      if (part === '(') depth += 1
      if (part === ')') depth -= 1
      if (depth === 0) return Buffer.from(parts.join(''), 'latin1')
      parts.push(unescaped(part))
    }
  }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f', '\n': '' }

function unescaped(part: string): string {
  if (!part.startsWith('\\')) return part
  const rest = part.slice(1)
  return /^[0-7]/.test(rest) ? String.fromCharCode(Number.parseInt(rest, 8)) : (escapes[rest] ?? rest)
}

/** A text of a dictionary: UTF-16 with a byte order mark, or PDFDocEncoding, of which only ASCII is read. */
export function pdfText(value: PdfValue): string {
  if (!Buffer.isBuffer(value)) return ''
  return value[0] === 0xfe && value[1] === 0xff
    ? Buffer.from(value.subarray(2)).swap16().toString('utf16le')
    : value.toString('latin1')
}
