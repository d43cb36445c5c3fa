import { useLoaderData } from 'react-router'
import { mostBytes } from '../../../src/clients/documents/limits.ts'
import type { Document, DocumentList } from '../../../src/clients/schema.ts'
import { useEdited } from '../../components/edited.ts'
import { Empty } from '../../components/empty.tsx'
import { More } from '../../components/more.tsx'
import { sizeText } from '../../size.ts'
import { counted } from '../../words.ts'
import { Archived } from '../record/archived.tsx'
import { ArchivedNotice } from '../record/archived-notice.tsx'
import { Entry } from '../record/entry.tsx'
import type { Item } from '../record/items.tsx'
import itemClasses from '../record/items.module.css'
import { useRecord } from '../record/use-record.ts'
import { DropArea } from './drop-area.tsx'
import classes from './documents.module.css'
import { uploadFiles } from './uploading.ts'
import { Uploads } from './uploads.tsx'
import { useUploads } from './use-uploads.ts'

/** The files on a record, the latest first, and those on their way to it. */
export function DocumentsTab() {
  const { id, status } = useRecord()
  const list = useLoaderData<DocumentList>()
  const uploads = useUploads(id)
  return (
    <More
      first={list.documents}
      next={list.next}
      pick={(page: DocumentList) => page.documents}
      idOf={({ id: of }) => of}
    >
      {(documents) =>
        status === 'archived' ? (
          <>
            <ArchivedNotice />
            <List documents={documents} />
          </>
        ) : (
          <DropArea several onFiles={(files) => uploadFiles(id, files)}>
            {(button) => (
              <>
                {documents.length === 0 && uploads.length === 0 ? (
                  <Empty title="No documents yet">
                    <p>{`Drop files here, paste them, or choose them. Each may have up to ${sizeText(mostBytes)}.`}</p>
                    {button('Add documents')}
                  </Empty>
                ) : (
                  <div className={classes.head}>
                    {button('Add documents')}
                    <p>{totalsOf(list)}</p>
                  </div>
                )}
                <Uploads uploads={uploads} />
                <List documents={documents} />
              </>
            )}
          </DropArea>
        )
      }
    </More>
  )
}

function List({ documents }: { readonly documents: readonly Document[] }) {
  const { edited, removed, onEditing } = useEdited<Item>(documents)
  return (
    <div className={itemClasses.items}>
      {(documents.length > 0 || edited.size > 0) && (
        <ol className={itemClasses.list}>
          {[...removed, ...documents].map((document) => (
            <li key={document.id}>
              <Entry noun="document" item={document} onEditing={onEditing} />
            </li>
          ))}
        </ol>
      )}
      <Archived key="archived" noun="document" />
    </div>
  )
}

/** `12 documents, 3.4 MB`. */
function totalsOf({ totals }: DocumentList): string {
  return totals && totals.documents > 0 ? `${counted(totals.documents, 'document')}, ${sizeText(totals.bytes)}` : ''
}
