import { inflateSync } from 'node:zlib'
import { PdfReader, UnclearPdf, type PdfValue } from './pdf-values.ts'

/** The work that is left for PDFs that are read together. */
export interface PdfWork {
  /** Steps besides reading: finding, storing and counting. */
  steps: number
  /** Bytes of objects to read. */
  read: number
  /** Object streams to decode. */
  streams: number
  /** Bytes that they may decode to. */
  decoded: number
}

const mebibyte = 1024 * 1024

export const createPdfWork = (): PdfWork => ({
  steps: 1_000_000,
  read: 3 * mebibyte,
  streams: 1000,
  decoded: 8 * mebibyte,
})

/** What each takes at worst, in proportion. */
const cost = { keyword: 2, place: 14, unclearPlace: 1000, entry: 5, object: 14, node: 40 }

/** `number` is undefined for a trailer. */
type TakeObject = (number: number | undefined, value: PdfValue) => void

/**
 * Reads every object and trailer of a PDF, in each of its versions (ISO 32000-2, sections 7.3.10 and 7.5). Cross-reference tables
 * are not followed: programs replace broken ones by a search, and so each place where an object can begin is read as one. What
 * cannot lead to pages may be left out. Throws UnclearPdf where programs may find other objects, and for more than the work that is left.
 */
export function readObjects(bytes: Buffer, work: PdfWork, take: TakeObject): void {
  for (const at of places(bytes, 'trailer', work)) {
    const start = afterSpace(bytes, at + 'trailer'.length, work)
    if (bytes[start] === less) take(undefined, readObject(bytes, start, work).value)
  }
  let streamEnd = 0
  for (const at of places(bytes, 'obj', work)) {
    const number = numberBefore(bytes, at, work)
    if (number === undefined) continue
    const start = at + 'obj'.length
    const { value, end } = readObject(bytes, start, work)
    take(number, value)
    if (!(value instanceof Map) || !value.has('First')) continue
    const data = dataAfter(bytes, end, work)
    if (data === undefined) continue
    // Each stream has its own end: a file that has one end for many would be searched again and again.
    if (data < streamEnd) throw new UnclearPdf()
    streamEnd = bytes.indexOf('endstream', data)
    if (streamEnd < 0) throw new UnclearPdf()
    const layout = streamLayout(bytes.toString('latin1', start, end))
    readObjectStream(decoded(bytes.subarray(data, streamEnd), layout.isCompressed, work), layout, work, take)
  }
}

function* places(bytes: Buffer, keyword: string, work: PdfWork): Generator<number> {
  for (let at = bytes.indexOf(keyword); at >= 0; at = bytes.indexOf(keyword, at + keyword.length)) {
    spend(work, cost.keyword)
    yield at
  }
}

function spend(work: PdfWork, steps: number): void {
  work.steps -= steps
  if (work.steps < 0) throw new UnclearPdf()
}

function readObject(bytes: Buffer, start: number, work: PdfWork): { value: PdfValue; end: number } {
  const reader = new PdfReader(bytes, start, start + work.read)
  const value = reader.value()
  work.read -= reader.at - start
  spend(work, value instanceof Map && value.has('Kids') ? cost.node : cost.object)
  return { value, end: reader.at }
}

/** The number of an object, as written before `obj`: its number and generation. */
const header = /[^-+.\deE](\d{1,10})[\0\t\n\f\r ]+\d{1,5}[\0\t\n\f\r ]*$/
/** Another word before it on the same line. */
const noHeader = /[^-+.\deE\0\t\n\f\r ][^\0\t\n\f\r ]*[\0\t\f ]*$/
/** Two numbers in a form that programs may read as a header. The last one is a part of such a form, from the second number on. */
const unclearHeaders = [
  /\d[-+.\deE]*(?:[\0\t\n\f\r ]|%[^\n\r]*[\n\r])+[-+.\d][-+.\deE]*(?:[\0\t\n\f\r ]|%[^\n\r]*[\n\r])*$/,
  /^(?:[^\n\r]*[\n\r])?(?:[\0\t\n\f\r ]|%[^\n\r]*[\n\r])*(?:[-+.\deE]+(?:[\0\t\n\f\r ]|%[^\n\r]*[\n\r])*)?$/,
]

/** Returns undefined where no object begins. */
function numberBefore(bytes: Buffer, at: number, work: PdfWork): number | undefined {
  if (bytes.toString('latin1', at - 3, at) === 'end') return undefined
  spend(work, cost.place)
  const before = bytes.toString('latin1', Math.max(0, at - 32), at)
  const number = header.exec(before)?.[1]
  if (number !== undefined) return Number(number)
  if (noHeader.test(before)) return undefined
  // Rare, and slow where it is made to be.
  spend(work, cost.unclearPlace)
  const further = bytes.toString('latin1', Math.max(0, at - 256), at)
  if (unclearHeaders.some((each) => each.test(further))) throw new UnclearPdf()
  return undefined
}

/** Where the data of a stream begins; undefined for an object that is none (section 7.3.8). */
function dataAfter(bytes: Buffer, end: number, work: PdfWork): number | undefined {
  const start = afterSpace(bytes, end, work)
  const [, line] = /^stream([\0\t\f ]*(?:\r\n?|\n)?)/.exec(bytes.toString('latin1', start, start + 64)) ?? []
  if (line === undefined) return undefined
  if (!/[\n\r]/.test(line)) throw new UnclearPdf()
  return start + 'stream'.length + line.length
}

/** The place after white space and comments. */
function afterSpace(bytes: Buffer, start: number, work: PdfWork): number {
  const reader = new PdfReader(bytes, start, start + work.read)
  reader.skipSpace()
  work.read -= reader.at - start
  return reader.at
}

interface StreamLayout {
  /** How many objects it has. */
  readonly count: number
  /** Where the first begins. */
  readonly first: number
  readonly isCompressed: boolean
}

/** Nothing else may be in the dictionary of an object stream, such as another filter. */
const streamDictionary =
  /^(?:<<|>>|[[\]\dR\0\t\n\f\r ]|\/(?:Type|ObjStm|N|First|Length|Extends|Filter|FlateDecode)(?![^\0\t\n\f\r <>[\]/]))*$/

function streamLayout(dictionary: string): StreamLayout {
  const [count, first] = [/\/N\s*(\d+)(?!\d|\s+\d+\s+R)/, /\/First\s*(\d+)(?!\d|\s+\d+\s+R)/].map((each) =>
    Number(each.exec(dictionary)?.[1]),
  )
  const isCompressed = dictionary.includes('FlateDecode')
  const isClear = streamDictionary.test(dictionary) && dictionary.includes('Filter') === isCompressed
  if (!isClear || count === undefined || first === undefined || Number.isNaN(count + first)) throw new UnclearPdf()
  return { count, first, isCompressed }
}

function decoded(data: Buffer, isCompressed: boolean, work: PdfWork): Buffer {
  if (--work.streams < 0) throw new UnclearPdf()
  const objects = isCompressed ? inflated(data, work) : data
  work.decoded -= objects.length
  if (work.decoded < 0) throw new UnclearPdf()
  return objects
}

function inflated(data: Buffer, work: PdfWork): Buffer {
  try {
    return inflateSync(data, { maxOutputLength: Math.max(1, work.decoded) })
  } catch {
    // How much of it was decoded is unknown.
    work.decoded = 0
    throw new UnclearPdf()
  }
}

/** A stream has the numbers and places of its objects, and then the objects (section 7.5.7). */
function readObjectStream(objects: Buffer, { count, first }: StreamLayout, work: PdfWork, take: TakeObject): void {
  spend(work, count * cost.entry)
  const index = objects.toString('latin1', 0, first)
  const numbers = index.match(/\d+/g)?.map(Number) ?? []
  if (!/^[\d\0\t\n\f\r ]*$/.test(index) || numbers.length !== 2 * count) throw new UnclearPdf()
  const mayLead = ['/Kids', '/Pages', '#'].some((each) => objects.includes(each))
  let last = -1
  for (let i = 0; i < numbers.length; i += 2) {
    const [number = 0, offset = 0] = numbers.slice(i, i + 2)
    if (offset <= last) throw new UnclearPdf()
    last = offset
    const start = first + offset
    // A dictionary without these names leads nowhere. A file can have very many.
    if (mayLead || objects[start] !== less) take(number, readObject(objects, start, work).value)
  }
}

const less = 0x3c
