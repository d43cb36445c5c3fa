import { IconArrowLeft } from '@tabler/icons-react'
import { Link, useLoaderData } from 'react-router'
import type { Document, RevisionList } from '../../../src/clients/schema.ts'
import { nouns, type Field } from '../../fields.ts'
import { sizeText } from '../../size.ts'
import { Entry } from '../record/entry.tsx'
import itemClasses from '../record/item.module.css'
import { Revisions } from '../record/revisions.tsx'
import { useRecord } from '../record/use-record.ts'
import classes from './documents.module.css'
import { DropArea } from './drop-area.tsx'
import { Preview } from './preview.tsx'
import { uploadFiles } from './uploading.ts'
import { Uploads } from './uploads.tsx'
import { useUploads } from './use-uploads.ts'

/** One document: its preview, a place for its next version, and its earlier ones. */
export function DocumentPage() {
  const { id, status } = useRecord()
  const { item, revisions } = useLoaderData<{ item: Document; revisions: RevisionList }>()
  const uploads = useUploads(id).filter(({ documentId }) => documentId === item.id)
  const address = `/clients/${id}/documents/${item.id}`
  const canChange = status === 'active' && item.archived_at === null
  const fields = versionFields(revisions)
  return (
    <div className={itemClasses.item}>
      <Link to={`/clients/${id}/documents`} className={itemClasses.back} preventScrollReset>
        <IconArrowLeft size={15} aria-hidden />
        All documents
      </Link>
      <Entry noun="document" item={item} alone />
      {unread[item.reading] !== undefined && <p className={classes.note}>{unread[item.reading]}</p>}
      <Preview key={item.digest} address={`${address}/content?version=${item.version}`} document={item} />
      {canChange && (
        <DropArea several={false} onFiles={(files) => uploadFiles(id, files, item)}>
          {(button) => (
            <>
              <div>{button('Upload a new version')}</div>
              <Uploads uploads={uploads} />
            </>
          )}
        </DropArea>
      )}
      <Revisions
        fields={fields}
        list={revisions}
        address={`${address}/revisions`}
        restoring={canChange ? { address, fields, current: item } : undefined}
        download={(version) => `${address}/content?version=${version}`}
      />
    </div>
  )
}

/** Why a document is found by its name only. */
const unread: Partial<Readonly<Record<Document['reading'], string>>> = {
  waiting: 'The text of this file is about to be read. Until then, a search finds it by its name only.',
  protected: 'The file is protected with a password, so a search finds it by its name only.',
  damaged: 'The text of this file cannot be read, so a search finds it by its name only.',
  too_much: 'The text of this file takes too long to read, so a search finds it by its name only.',
}

/** The file of a version is shown with its size: its digest means nothing to people. */
function versionFields({ revisions }: RevisionList): readonly Field[] {
  const choices = Object.fromEntries(
    revisions.map(({ data: { digest, bytes } }) => [
      String(digest),
      `${sizeText(Number(bytes))} (${String(digest).slice(0, 8)})`,
    ]),
  )
  return [...nouns.document.fields, { name: 'digest', label: 'File', kind: 'choice', choices }]
}
