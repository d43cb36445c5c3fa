import { useCallback, useRef, useState } from 'react'
import { useLoaderData, useRevalidator } from 'react-router'
import type { LetterMail } from '../../../src/clients/letters/mail/schema.ts'
import type { LetterReviewList } from '../../../src/clients/letters/review/schema.ts'
import type { Letter, RevisionList } from '../../../src/clients/schema.ts'
import { notifyDone } from '../../components/notify.ts'
import { keptOf } from '../../kept.ts'
import { useOpened } from '../../components/opened.ts'
import { content } from '../../content.ts'
import { letterFields, nouns } from '../../fields.ts'
import { Revisions } from '../record/revisions.tsx'
import { useRecord } from '../record/use-record.ts'
import { CheckPanel } from './check.tsx'
import { DraftForm } from './draft-form.tsx'
import { Drafts } from './drafts.tsx'
import { LetterActions } from './letter-actions.tsx'
import { LetterForm } from './letter-form.tsx'
import { LetterPaper } from './letter-paper.tsx'
import { FailedDraft, LiveDraft } from './live-draft.tsx'
import { quoted } from './quoted.ts'
import { Review, ReviewNotice } from './review.tsx'
import { Sources } from './sources.tsx'
import { useStartsAt } from './starts-at.ts'
import { Sent } from './sent.tsx'
import { useDrafting } from './use-drafting.ts'
import type { Draft, DraftRequest } from './wire.ts'
import { Workspace } from './workspace.tsx'

interface Loaded {
  readonly item: Letter
  readonly revisions: RevisionList
  readonly drafts: readonly Draft[]
  readonly mails: readonly LetterMail[]
  readonly reviews: LetterReviewList
}

/** A letter with its sources, versions and drafts beside it. */
export function LetterPage() {
  const loaded = useLoaderData<Loaded>()
  return <LetterDesk key={loaded.item.id} {...loaded} />
}

function LetterDesk({ item: letter, revisions, drafts, mails, reviews }: Loaded) {
  const record = useRecord()
  const { revalidate } = useRevalidator()
  // With text that an earlier page did not save, the form opens whatever became of the letter.
  const [isDirty, setIsDirty] = useState(() => keptOf(`/clients/${record.id}/letters/${letter.id}`) !== undefined)
  const { isOpen: isDrafting, opener, open, close } = useOpened()
  const [startsAt, setStartsAt] = useState(useStartsAt())
  const insert = useRef<(markdown: string) => void>(undefined)
  const onReady = useCallback((act: (markdown: string) => void) => {
    insert.current = act
  }, [])
  const { writing, start, stop, reset } = useDrafting(record.id, async () => {
    await revalidate()
    setStartsAt('body')
    close()
    notifyDone('The letter was rewritten.')
  })
  const isOpen = letter.status === 'draft' && letter.archived_at === null && record.status === 'active'
  // What was typed stays, whatever others did with the letter meanwhile.
  const isEdited = isOpen || isDirty
  const isWriting = isEdited && !isDrafting && writing.phase === 'idle'
  const [draft] = drafts
  const panels = [
    {
      name: 'Sources',
      content: <Sources onQuote={isWriting ? (text) => insert.current?.(quoted(text)) : undefined} />,
    },
    ...(draft ? [{ name: 'Check', content: <CheckPanel draft={draft} version={letter.version} /> }] : []),
    ...(isOpen || reviews.reviews.length > 0
      ? [{ name: 'Review', content: <Review letter={letter} list={reviews} isDirty={isDirty} /> }]
      : []),
    ...(drafts.length > 0 ? [{ name: 'Drafts', content: <Drafts drafts={drafts} /> }] : []),
    ...(letter.status === 'sent'
      ? [{ name: 'Sent', content: <Sent address={`/clients/${record.id}/letters/${letter.id}`} mails={mails} /> }]
      : []),
    { name: 'Versions', content: <LetterVersions letter={letter} revisions={revisions} /> },
  ]
  const canDraft = isOpen && Boolean(content.settings?.drafting)
  function draftAgain() {
    // Cancelling returns to the button.
    setStartsAt(undefined)
    open()
  }
  return (
    <Workspace panels={panels}>
      {writing.phase === 'writing' && <LiveDraft writing={writing} onStop={() => void stop()} />}
      {writing.phase === 'failed' && <FailedDraft failed={writing} onBack={reset} />}
      {isDrafting && (
        <div hidden={writing.phase !== 'idle'}>
          <DraftForm
            initial={requestOf(letter, draft)}
            submitLabel="Rewrite"
            error={writing.phase === 'idle' ? writing.error : undefined}
            isShown={writing.phase === 'idle'}
            isSent={writing.phase === 'writing'}
            onSubmit={(request) => void start(request)}
            onCancel={close}
          />
        </div>
      )}
      {!isDrafting && (
        <>
          <LetterActions
            letter={letter}
            draft={draft}
            mayApprove={reviews.may_approve}
            isDirty={isDirty}
            drafter={opener}
            onDraft={canDraft ? draftAgain : undefined}
          />
          <ReviewNotice letter={letter} list={reviews} />
          {isEdited ? (
            <LetterForm letter={letter} startsAt={startsAt} onDirty={setIsDirty} onReady={onReady} />
          ) : (
            <LetterPaper letter={letter} isStart={startsAt !== undefined} />
          )}
        </>
      )}
    </Workspace>
  )
}

/** The request that a letter came from, to change it. */
function requestOf({ id, subject }: Letter, draft: Draft | undefined): DraftRequest {
  const idsOf = (kind: 'note' | 'dispute') =>
    (draft?.sources ?? []).filter((source) => source.kind === kind).map((source) => source.id)
  return {
    instructions: draft?.instructions ?? '',
    notes: idsOf('note'),
    disputes: idsOf('dispute'),
    documents: (draft?.sources ?? []).flatMap(({ kind, id: of, pages }) =>
      kind === 'document' ? [{ id: of, ...(pages && { pages }) }] : [],
    ),
    subject,
    letter: id,
  }
}

function LetterVersions({ letter, revisions }: { readonly letter: Letter; readonly revisions: RevisionList }) {
  const { id, status } = useRecord()
  const address = `/clients/${id}/letters/${letter.id}`
  const canChange = status === 'active' && letter.status !== 'sent' && letter.archived_at === null
  return (
    <Revisions
      fields={nouns.letter.fields}
      list={revisions}
      address={`${address}/revisions`}
      restoring={canChange ? { address, fields: letterFields(), current: letter } : undefined}
    />
  )
}
