import { Readable } from 'node:stream'
import { Zip, ZipDeflate, ZipPassThrough } from 'fflate'

/** A file of an archive: text, which may come in pieces and is compressed, or bytes, which are stored as they are. */
export interface ZippedFile {
  readonly name: string
  readonly input: string | Uint8Array | AsyncIterable<string>
}

/** A ZIP file, generated while it is read: each file is requested once the previous one is written. */
export function zipOf(files: AsyncIterable<ZippedFile>): Readable {
  return Readable.from(chunksOf(files))
}

async function* chunksOf(files: AsyncIterable<ZippedFile>): AsyncGenerator<Uint8Array> {
  const ready: Uint8Array[] = []
  const zip = new Zip((error, chunk) => {
    if (error) throw error
    ready.push(chunk)
  })
  for await (const { name, input } of files) {
    const entry = input instanceof Uint8Array ? new ZipPassThrough(name) : new ZipDeflate(name)
    zip.add(entry)
    for await (const piece of typeof input === 'string' || input instanceof Uint8Array ? [input] : input) {
      entry.push(typeof piece === 'string' ? Buffer.from(piece) : piece)
      yield* ready.splice(0)
    }
    entry.push(new Uint8Array(), true)
    yield* ready.splice(0)
  }
  zip.end()
  yield* ready
}
