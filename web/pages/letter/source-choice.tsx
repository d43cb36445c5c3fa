import { TextInput } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import type { Document, DocumentList } from '../../../src/clients/schema.ts'
import { read } from '../../api.ts'
import { sizeText } from '../../size.ts'
import { useRecord } from '../record/use-record.ts'
import { summaryOf } from '../record/summary.tsx'
import type { Item } from '../record/items.tsx'
import classes from './drafting.module.css'
import { mostPages, pagesIn, pagesText } from './pages.ts'
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
  const input = useRef<HTMLInputElement>(null)
  const fault = choiceOf(typed) === undefined ? `Write up to ${mostPages} pages like this: 1-3, 7` : ''
  // The browser does not submit an unclear choice: the model must not read more than its author chose.
  useEffect(() => input.current?.setCustomValidity(fault))
  const choose = (text: string) => {
    const choice = choiceOf(text)
    if (choice) onChange([...others, { id: item.id, ...choice }])
  }
  const id = `source-${item.id}`
  return (
    <div className={classes.choice}>
      <input
        type="checkbox"
        id={id}
        checked={own !== undefined}
        onChange={() => {
          if (own) return onChange(others)
          const isClear = choiceOf(typed) !== undefined
          if (!isClear) setTyped('')
          choose(isClear ? typed : '')
        }}
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
            ref={input}
            error={fault || undefined}
            onChange={({ currentTarget: { value } }) => {
              setTyped(value)
              choose(value)
            }}
          />
        )}
      </div>
    </div>
  )
}

/** The pages that a text chooses, or all without a text. Undefined if it cannot be read. */
function choiceOf(text: string): { readonly pages?: number[] } | undefined {
  if (text.trim() === '') return {}
  const pages = pagesIn(text)
  return pages && { pages }
}
