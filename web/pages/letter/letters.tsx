import { Button } from '@mantine/core'
import { IconPlus, IconSparkles } from '@tabler/icons-react'
import { useEffect, useRef, type RefObject } from 'react'
import { useLocation, useNavigate } from 'react-router'
import { Empty } from '../../components/empty.tsx'
import { InParts } from '../../components/in-parts.tsx'
import { useKey } from '../../components/keys.ts'
import { content } from '../../content.ts'
import { Archived } from '../record/archived.tsx'
import { ArchivedNotice } from '../record/archived-notice.tsx'
import { Entry } from '../record/entry.tsx'
import { useRecord } from '../record/use-record.ts'
import classes from './letters.module.css'
import { NewDraft } from './new-draft.tsx'
import { NewLetter } from './new-letter.tsx'
import { RunningDrafts } from './running-drafts.tsx'

/** The letters of a record; at `#new` and `#draft` a new one. */
export function Letters() {
  const { hash } = useLocation()
  const { status } = useRecord()
  const form = status === 'active' ? formAt(hash) : undefined
  /** The form that was open last, whose button gets the focus. */
  const closed = useRef<LetterFormName>(undefined)
  useEffect(() => {
    if (form) closed.current = form
  }, [form])
  if (form === 'new') return <NewLetter />
  if (form === 'draft') return <NewDraft key={hash} />
  return <LetterList closed={closed} />
}

type LetterFormName = 'new' | 'draft'

function formAt(hash: string): LetterFormName | undefined {
  if (hash === '#new') return 'new'
  return hash.startsWith('#draft') ? 'draft' : undefined
}

function LetterList({ closed }: { readonly closed: RefObject<LetterFormName | undefined> }) {
  const { id, letters, status } = useRecord()
  const navigate = useNavigate()
  const address = `/clients/${id}/letters`
  const isArchived = status === 'archived'
  const openers = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (isLost && closed.current) openers.current?.querySelector<HTMLElement>(`[data-opens=${closed.current}]`)?.focus()
  }, [closed])
  useKey('n', (event) => {
    if (isArchived) return
    event.preventDefault()
    void navigate(`${address}#new`)
  })
  const ways = isArchived ? (
    <ArchivedNotice />
  ) : (
    <div ref={openers} className={classes.ways}>
      <Button
        data-opens="new"
        variant="default"
        leftSection={<IconPlus size={15} />}
        onClick={() => void navigate(`${address}#new`)}
      >
        Add letter
      </Button>
      {content.settings?.drafting && (
        <Button
          data-opens="draft"
          variant="default"
          leftSection={<IconSparkles size={15} />}
          onClick={() => void navigate(`${address}#draft`)}
        >
          Draft a letter
        </Button>
      )}
    </div>
  )
  return (
    <div className={classes.letters}>
      <RunningDrafts />
      {letters.length === 0 ? (
        <Empty title="No letters yet">
          <p>Draft letters here, get them approved, and keep the ones you sent.</p>
          {ways}
        </Empty>
      ) : (
        <>
          {ways}
          <InParts all={letters}>
            {(shown) => (
              <ol className={classes.list}>
                {shown.map((letter) => (
                  <li key={letter.id}>
                    <Entry noun="letter" item={letter} />
                  </li>
                ))}
              </ol>
            )}
          </InParts>
        </>
      )}
      <Archived noun="letter" />
    </div>
  )
}
