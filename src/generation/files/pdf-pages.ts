import { inflateSync } from 'node:zlib'

/** The work that is left for PDFs that are read together. */
export interface PdfWork {
  /** Object streams to decode. */
  streams: number
  /** Bytes that they may decode to. */
  decoded: number
}

export const createPdfWork = (): PdfWork => ({ streams: 1000, decoded: 8 * 1024 * 1024 })

/**
 * Counts the pages of a PDF (ISO 32000), or more if it has earlier versions of them. Stops above `limit`. Returns undefined for
 * bytes that do not begin and end as a PDF, and where the pages cannot be read: the file is broken, has a password or takes more
 * than the work that is left.
 */
export function countPdfPages(bytes: Buffer, limit: number, work: PdfWork = createPdfWork()): number | undefined {
  if (!bytes.subarray(0, 1024).includes('%PDF-') || !bytes.subarray(-1024).includes('%%EOF')) return undefined
  const text = bytes.toString('latin1')
  let pages = pagesIn(text, limit)
  let end = 0
  for (const { 0: head, index } of text.matchAll(objectStream)) {
    if (pages > limit) break
    if (--work.streams < 0) return undefined
    // Each stream has its own end: a file that has one end for many would be searched again and again.
    if (index < end) return undefined
    const start = index + head.length
    end = text.indexOf('endstream', start)
    const objects = end < 0 ? undefined : decoded(bytes.subarray(start, end), work.decoded)
    if (objects === undefined) {
      // How much of it was decoded is unknown.
      work.decoded = 0
      return undefined
    }
    work.decoded -= objects.length
    pages += pagesIn(objects, limit)
  }
  return pages === 0 ? undefined : pages
}

const pageType = /\/Type\s*\/Page(?![A-Za-z])/g
/** The dictionary of a stream of compressed objects, up to its data. It takes linear time: no match reaches into the next. */
const objectStream = /\/ObjStm\b(?:(?!\/ObjStm)[^]){0,1024}?stream\r?\n/g

function pagesIn(text: string, limit: number): number {
  return text
    .matchAll(pageType)
    .take(limit + 1)
    .reduce((count) => count + 1, 0)
}

/** Undefined if the data is broken or larger than `room`. Empty if it is not compressed: the text of the file contains it. */
function decoded(data: Buffer, room: number): string | undefined {
  if (!isZlib(data)) return ''
  try {
    return inflateSync(data, { maxOutputLength: room }).toString('latin1')
  } catch {
    return undefined
  }
}

/** RFC 1950, section 2.2: compression method 8. */
const isZlib = (data: Buffer): boolean => ((data[0] ?? 0) & 0x0f) === 8
