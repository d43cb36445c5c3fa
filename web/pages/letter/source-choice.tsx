import { TextInput } from '@mantine/core'
import { useEffect, useState } from 'react'
import type { Document, DocumentList } from '../../../src/clients/schema.ts'
import { read } from '../../api.ts'
import { sizeText } from '../../size.ts'
import { useRecord } from '../record/use-record.ts'
import { summaryOf } from '../record/summary.tsx'
import type { Item } from '../record/items.tsx'
import classes from './drafting.module.css'
import { pagesIn, pagesText } from './pages.ts'
import type { DraftRequest } from './wire.ts'

type Sources = Pick<DraftRequest, 'notes' | 'disputes' | 'documents'>

interface SourceChoiceProps extends Sources {
  readonly error: string | undefined
  readonly onChange: (chosen: Partial<Sources>) => void
}

/** Chooses the notes, disputes and documents that the model reads. */
export function SourceChoice({ notes, disputes, documents, error, onChange }: SourceChoiceProps) {
  const record = useRecord()
  const readable = useReadable(record.id)
  if (record.notes.length + record.disputes.length + readable.length === 0) return null
  return (
    <fieldset className={classes.sources}>
      <legend>What the model reads</legend>
      <div className={classes.choices}>
        {record.disputes.map((item) => (
          <Choice key={item.id} item={item} chosen={disputes} onChange={(ids) => onChange({ disputes: ids })} />
        ))}
        {record.notes.map((item) => (
          <Choice key={item.id} item={item} chosen={notes} onChange={(ids) => onChange({ notes: ids })} />
        ))}
        {readable.map((item) => (
          <DocumentChoice
            key={item.id}
            item={item}
            chosen={documents}
            onChange={(all) => onChange({ documents: all })}
          />
        ))}
      </div>
      {error !== undefined && <p className={classes.error}>{error}</p>}
    </fieldset>
  )
}

interface ChoiceProps {
  readonly item: Item
  readonly chosen: readonly string[]
  readonly onChange: (ids: string[]) => void
}

function Choice({ item, chosen, onChange }: ChoiceProps) {
  const { title, aside, text } = summaryOf(item)
  const id = `source-${item.id}`
  const isChosen = chosen.includes(item.id)
  return (
    <div className={classes.choice}>
      <input
        type="checkbox"
        id={id}
        checked={isChosen}
        onChange={() => onChange(isChosen ? chosen.filter((each) => each !== item.id) : [...chosen, item.id])}
      />
      <label htmlFor={id} className={classes.item}>
        <span>
          <strong>{title}</strong> {aside}
        </span>
        <span className={classes.beginning}>{text.slice(0, 200)}</span>
      </label>
    </div>
  )
}

/** The latest documents of a record with a text. Without them, a letter can still be drafted. */
function useReadable(clientId: string): readonly Document[] {
  const [documents, setDocuments] = useState<readonly Document[]>([])
  useEffect(() => {
    const left = new AbortController()
    read<DocumentList>(`/clients/${clientId}/documents?limit=200`, left.signal)
      .then((list) => setDocuments(list.documents.filter(({ reading }) => reading === 'read')))
      .catch(() => undefined)
    return () => left.abort()
  }, [clientId])
  return documents
}

interface DocumentChoiceProps {
  readonly item: Document
  readonly chosen: DraftRequest['documents']
  readonly onChange: (documents: DraftRequest['documents']) => void
}

/** A document, and once it is chosen, its pages. */
function DocumentChoice({ item, chosen, onChange }: DocumentChoiceProps) {
  const own = chosen.find(({ id }) => id === item.id)
  const others = chosen.filter(({ id }) => id !== item.id)
  const [typed, setTyped] = useState(pagesText(own?.pages ?? []))
  const isClear = typed.trim() === '' || pagesIn(typed) !== undefined
  const id = `source-${item.id}`
  return (
    <div className={classes.choice}>
      <input
        type="checkbox"
        id={id}
        checked={own !== undefined}
        onChange={() => onChange(own ? others : [...others, { id: item.id }])}
      />
      <div className={classes.item}>
        <label htmlFor={id}>
          <strong>{item.name}</strong> {sizeText(item.bytes)}
        </label>
        {own && (
          <TextInput
            size="xs"
            aria-label={`Pages of ${item.name}`}
            placeholder="All pages, or some: 1-3, 7"
            value={typed}
            error={isClear ? undefined : 'Write pages like this: 1-3, 7'}
            onChange={({ currentTarget: { value } }) => {
              setTyped(value)
              const pages = pagesIn(value)
              onChange([...others, { id: item.id, ...(pages && { pages }) }])
            }}
          />
        )}
      </div>
    </div>
  )
}
