import { inflateSync } from 'node:zlib'

/** Bounds of the work on one PDF: object streams, and bytes that they decode to. */
const most = { streams: 1000, decoded: 8 * 1024 * 1024 }

/**
 * Counts the pages of a PDF (ISO 32000), or more if it has earlier versions of them. Stops above `limit`. Returns undefined for
 * bytes that do not begin and end as a PDF, and where the pages cannot be read: the file is broken or has a password.
 */
export function countPdfPages(bytes: Buffer, limit: number): number | undefined {
  if (!bytes.subarray(0, 1024).includes('%PDF-') || !bytes.subarray(-1024).includes('%%EOF')) return undefined
  const text = bytes.toString('latin1')
  let pages = pagesIn(text, limit)
  let room = most.decoded
  let streams = 0
  for (const { 0: head, index } of text.matchAll(objectStream)) {
    if (pages > limit) break
    if (++streams > most.streams) return undefined
    const start = index + head.length
    const objects = decoded(bytes.subarray(start, text.indexOf('endstream', start)), room)
    room -= objects.length
    pages += pagesIn(objects, limit)
  }
  return pages === 0 ? undefined : pages
}

const pageType = /\/Type\s*\/Page(?![A-Za-z])/g
/** The dictionary of a stream of compressed objects, up to its data. */
const objectStream = /\/ObjStm\b[^]{0,1024}?stream\r?\n/g

function pagesIn(text: string, limit: number): number {
  return text
    .matchAll(pageType)
    .take(limit + 1)
    .reduce((count) => count + 1, 0)
}

/** Empty if the data is encrypted, broken or larger than `room`. */
function decoded(data: Buffer, room: number): string {
  if (room <= 0) return ''
  try {
    return inflateSync(data, { maxOutputLength: room }).toString('latin1')
  } catch {
    return ''
  }
}
