import type { Logger } from 'pino'
import type { Visit } from '../access/actor.ts'
import { DamagedContent, type Contents } from '../clients/documents/contents.ts'
import type { Records } from '../clients/records.ts'
import { harmless } from '../documents/file-name.ts'
import type { ZippedFile } from './zip.ts'

interface ExportedDocumentsNeeds {
  readonly records: Pick<Records, 'whole'>
  readonly contents: Pick<Contents, 'exported'>
  readonly log: Pick<Logger, 'error'>
}

/** A document as the record has it. */
interface ExportedDocument {
  readonly id: string
  readonly version: number
  readonly [field: string]: unknown
}

/**
 * The documents of a client, oldest first, archived ones too, and the contents that their earlier versions had, each once. A file whose
 * content is damaged ends where the damage begins, and `onDamaged` is called with its name.
 */
export async function* exportedDocuments(
  { records, contents, log }: ExportedDocumentsNeeds,
  visit: Visit,
  clientId: string,
  {
    documents,
    onDamaged,
  }: { readonly documents: readonly ExportedDocument[]; readonly onDamaged: (name: string) => void },
): AsyncGenerator<ZippedFile> {
  async function* undamaged(name: string, digest: unknown): AsyncGenerator<Uint8Array> {
    try {
      yield* contents.exported(visit, clientId, String(digest))
    } catch (error) {
      if (!(error instanceof DamagedContent)) throw error
      log.error({ err: error, client: clientId, content: digest }, 'an export lacks a document that is damaged')
      onDamaged(name)
    }
  }
  const file = (name: string, digest: unknown): ZippedFile => ({ name, input: undamaged(name, digest) })
  for (const [index, { id, version, name, digest }] of documents.toReversed().entries()) {
    const number = String(index + 1).padStart(3, '0')
    const { stem, extension } = harmless(String(name))
    yield file(`documents/${number} ${stem}${extension}`, digest)
    if (version === 1) continue
    const exported = new Set([digest])
    for await (const { version: earlier, data } of records.whole.revisions(visit, clientId, { noun: 'document', id })) {
      if (exported.has(data['digest'])) continue
      exported.add(data['digest'])
      const was = harmless(String(data['name']))
      yield file(`documents/earlier/${number} ${was.stem} (version ${earlier})${was.extension}`, data['digest'])
    }
  }
}
