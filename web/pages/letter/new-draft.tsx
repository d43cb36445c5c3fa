import { useEffect, useRef, useState } from 'react'
import { useLocation, useNavigate, useRevalidator } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { notifyDone } from '../../components/notify.ts'
import { useRecord } from '../record/use-record.ts'
import { DraftForm } from './draft-form.tsx'
import { FailedDraft, LiveDraft } from './live-draft.tsx'
import { RunningDrafts } from './running-drafts.tsx'
import { Sources } from './sources.tsx'
import { startingAt } from './starts-at.ts'
import { useDrafting } from './use-drafting.ts'
import type { DraftRequest } from './wire.ts'
import { Workspace } from './workspace.tsx'

/** A letter that a model drafts. `#draft:note:<id>` chooses a source. */
export function NewDraft() {
  const record = useRecord()
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const { hash } = useLocation()
  const letters = `/clients/${record.id}/letters`
  // Only once: a note that arrives while the person writes must not change the sources.
  const [initial] = useState(() => requestFrom(record, hash))
  const followed = followedIn(hash)
  const { writing, start, stop, follow, reset } = useDrafting(record.id, async ({ draft, letter }) => {
    notifyDone('The letter was drafted.')
    await revalidate()
    const drafted = `${letters}/${letter?.id ?? draft.letter_id ?? ''}`
    await navigate(drafted, { replace: true, state: startingAt('body') })
  })
  const isFollowing = useRef(false)
  useEffect(() => {
    if (followed === undefined || isFollowing.current) return
    isFollowing.current = true
    void follow(followed)
  }, [followed, follow])
  return (
    <Workspace panels={[{ name: 'Sources', content: <Sources /> }]}>
      {writing.phase === 'writing' && <LiveDraft writing={writing} onStop={() => void stop()} />}
      {writing.phase === 'failed' && <FailedDraft failed={writing} onBack={reset} />}
      <div hidden={writing.phase !== 'idle'}>
        {/* After the page was loaded again while a letter is drafted. */}
        {writing.phase === 'idle' && <RunningDrafts />}
        <DraftForm
          initial={initial}
          submitLabel="Draft letter"
          error={writing.phase === 'idle' ? writing.error : undefined}
          isShown={writing.phase === 'idle'}
          isSent={writing.phase === 'writing'}
          onSubmit={(request) => void start(request)}
          onCancel={() => void navigate(letters, { replace: true })}
        />
      </div>
    </Workspace>
  )
}

/** The source that the person came from; otherwise the newest note. */
function requestFrom({ notes }: ClientRecord, hash: string): DraftRequest {
  const [, kind, id] = hash.split(':')
  const blank = { instructions: '', notes: [], disputes: [], documents: [], subject: '' }
  if (kind === 'note' && id !== undefined) return { ...blank, notes: [id] }
  if (kind === 'dispute' && id !== undefined) return { ...blank, disputes: [id] }
  if (kind === 'document' && id !== undefined) return { ...blank, documents: [{ id }] }
  return { ...blank, notes: notes.slice(0, 1).map((note) => note.id) }
}

/** The running draft of `#draft:running:<id>`. */
function followedIn(hash: string): string | undefined {
  const [, kind, id] = hash.split(':')
  return kind === 'running' ? id : undefined
}
