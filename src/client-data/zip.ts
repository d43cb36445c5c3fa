import { Readable } from 'node:stream'
import { makeZip } from 'client-zip'

/** A file of an archive: text or bytes, whole or in pieces. */
export interface ZippedFile {
  readonly name: string
  readonly input: string | Uint8Array | AsyncIterable<string> | AsyncIterable<Uint8Array>
}

/**
 * A ZIP file of any size (ZIP64), generated while it is read: each file is requested once the previous one is written. Nothing is
 * compressed: most bytes of an export are in files that are compressed already.
 */
export function zipOf(files: AsyncIterable<ZippedFile>): Readable {
  return Readable.from(bytesOf(makeZip(entriesOf(files))))
}

async function* entriesOf(files: AsyncIterable<ZippedFile>) {
  for await (const { name, input } of files) {
    if (typeof input === 'string' || input instanceof Uint8Array) yield { name, input }
    else yield { name, input: bytesOf(input) }
  }
}

async function* bytesOf(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece
}
