import { Problem } from '../../platform/problems.ts'
import type { ItemKind } from '../items/kinds.ts'
import { document, documentChange, documentList, newDocument } from '../schema.ts'

/** A file on the record. Its versions are its revisions, each with a name and the digest of its content. */
export const documents: ItemKind = Object.freeze({
  noun: 'document',
  plural: 'documents',
  columns: ['name', 'digest'],
  shown: ['type', 'bytes'],
  computed: {
    reading: '(select k.reading from document_content k where (k.client_id, k.digest) = (n.client_id, n.digest))',
  },
  pagedBy: 'created_at',
  totals: () => ({ documents: 'count(*)', bytes: 'coalesce(sum(n.bytes), 0)' }),
  order: 'n.created_at desc, n.id desc',
  shape: document,
  listShape: documentList,
  newBody: newDocument,
  changeBody: documentChange,
  defaults: {},
  toColumns({ name, digest, ...rest }) {
    return {
      ...rest,
      ...(typeof name === 'string' && { name: checkName(name) }),
      ...(typeof digest === 'string' && { digest: `\\x${digest}` }),
    }
  },
  toFields: ({ name, digest, type, bytes }) => ({ name, digest: String(digest).slice(2), type, bytes }),
  toStateFields: ({ reading }) => ({ reading }),
  toTotals: ({ documents: count, bytes }) => ({ documents: count, bytes }),
} satisfies ItemKind)

/** Throws Problem `invalid_field` for a path. */
function checkName(name: string): string {
  if (!/[/\\]/.test(name)) return name
  throw new Problem('invalid_field', 'The field name must be the name of a file, without folders: no / and no \\.', {
    field: 'name',
  })
}
