import type { Visit } from '../access/actor.ts'
import type { Contents } from '../clients/documents/contents.ts'
import type { Records } from '../clients/records.ts'
import { harmless } from '../documents/file-name.ts'
import type { ZippedFile } from './zip.ts'

interface ExportedDocumentsNeeds {
  readonly records: Pick<Records, 'whole'>
  readonly contents: Pick<Contents, 'exported'>
}

/** A document as the record has it. */
interface ExportedDocument {
  readonly id: string
  readonly version: number
  readonly [field: string]: unknown
}

/** The documents of a client, oldest first, archived ones too, and the contents that their earlier versions had, each once. */
export async function* exportedDocuments(
  { records, contents }: ExportedDocumentsNeeds,
  visit: Visit,
  clientId: string,
  documents: readonly ExportedDocument[],
): AsyncGenerator<ZippedFile> {
  for (const [index, { id, version, name, digest }] of documents.toReversed().entries()) {
    const number = String(index + 1).padStart(3, '0')
    const { stem, extension } = harmless(String(name))
    const bytes = (of: unknown) => contents.exported(visit, clientId, String(of))
    yield { name: `documents/${number} ${stem}${extension}`, input: bytes(digest) }
    if (version === 1) continue
    const exported = new Set([digest])
    for await (const { version: earlier, data } of records.whole.revisions(visit, clientId, { noun: 'document', id })) {
      if (exported.has(data['digest'])) continue
      exported.add(data['digest'])
      const was = harmless(String(data['name']))
      yield {
        name: `documents/earlier/${number} ${was.stem} (version ${earlier})${was.extension}`,
        input: bytes(data['digest']),
      }
    }
  }
}
