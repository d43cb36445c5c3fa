import { Badge, Button, Group } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { useRevalidator } from 'react-router'
import type { LetterReview, LetterReviewList } from '../../../src/clients/letters/review/schema.ts'
import type { Letter } from '../../../src/clients/schema.ts'
import { ApiError, change } from '../../api.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { Ago } from '../../components/time.tsx'
import { content } from '../../content.ts'
import { reviewStatusNames } from '../../words.ts'
import { useRecord } from '../record/use-record.ts'
import { AskDialog, ReturnDialog } from './review-dialogs.tsx'
import classes from './review.module.css'

const colors = { open: 'blue', lapsed: 'red', returned: 'orange', approved: 'teal', withdrawn: 'gray' } as const

const isMine = ({ status, reviewer }: LetterReview) => status === 'open' && reviewer.id === content.viewer?.person.id

/** Whether the letter waits for a review by the person who reads the page. */
const waitsForMe = ({ reviews }: LetterReviewList): LetterReview | undefined => reviews.find(isMine)

interface ReviewProps {
  readonly letter: Letter
  readonly list: LetterReviewList
  readonly isDirty: boolean
}

/** The reviews of a letter, the latest first, and whom one can ask. */
export function Review({ letter, list, isDirty }: ReviewProps) {
  const { id, status } = useRecord()
  const [isAsking, setAsking] = useState(false)
  const address = `/clients/${id}/letters/${letter.id}`
  const isOpen = status === 'active' && letter.status === 'draft' && letter.archived_at === null
  return (
    <>
      {list.reviews.length === 0 && <p className={classes.none}>Nobody was asked to review this letter.</p>}
      {isOpen && list.reviewers.length === 0 && (
        <p className={classes.none}>Nobody else can read this record, so there is no one to ask.</p>
      )}
      {isOpen && list.reviewers.length > 0 && (
        <Button
          variant="default"
          size="xs"
          disabled={isDirty}
          title={isDirty ? 'Save or discard your changes first' : undefined}
          onClick={() => setAsking(true)}
        >
          Ask for a review
        </Button>
      )}
      {isAsking && <AskDialog {...{ address, letter, list }} onClose={() => setAsking(false)} />}
      <ol className={classes.reviews}>
        {list.reviews.map((review) => (
          <li key={review.id} className={classes.review}>
            <One {...{ address, letter, review, isOpen }} />
          </li>
        ))}
      </ol>
    </>
  )
}

interface OneProps {
  readonly address: string
  readonly letter: Letter
  readonly review: LetterReview
  /** Whether the letter can be reviewed now. */
  readonly isOpen: boolean
}

function One({ address, letter, review, isOpen }: OneProps) {
  const { revalidate } = useRevalidator()
  const [busy, setBusy] = useState(false)
  const { reviewer, by, at, message, status, reason, ended_at: ended, ended_by: ender } = review
  const isWaiting = status === 'open' || status === 'lapsed'

  async function withdraw() {
    setBusy(true)
    try {
      await change(`${address}/reviews/${review.id}`, { method: 'DELETE' })
      notifyDone('The review was withdrawn.')
    } catch (error) {
      notifyFailure('The review was not withdrawn', error)
      if (!(error instanceof ApiError && error.status > 0)) return
    } finally {
      setBusy(false)
    }
    await revalidate()
  }

  return (
    <>
      <p className={classes.head}>
        <strong>
          <bdi>{reviewer.name}</bdi>
        </strong>
        <Badge color={colors[status]}>{reviewStatusNames[status]}</Badge>
      </p>
      {message !== null && <p className={classes.words}>{message}</p>}
      <p className={classes.small}>
        Asked{' '}
        {by && (
          <>
            by <bdi>{by.name}</bdi>{' '}
          </>
        )}
        <Ago time={at} />
        {isWaiting && letter.version > review.letter_version && '. The letter has changed since.'}
      </p>
      {status === 'lapsed' && isOpen && (
        <p className={classes.small}>They can no longer read this record. Ask someone else.</p>
      )}
      {reason !== null && <p className={classes.words}>{reason}</p>}
      {ended !== null && (
        <p className={classes.small}>
          {reviewStatusNames[status]}{' '}
          {ender && (
            <>
              by <bdi>{ender.name}</bdi>{' '}
            </>
          )}
          <Ago time={ended} />
        </p>
      )}
      {isWaiting && isOpen && (
        <Group gap="xs" mt="xs">
          <Button variant="default" size="xs" loading={busy} onClick={() => void withdraw()}>
            Withdraw
          </Button>
        </Group>
      )}
    </>
  )
}

interface RequestProps {
  readonly letter: Letter
  readonly list: LetterReviewList
}

/** Above a draft: what the person was asked to do, or what was said about it, and who has to approve it. */
export function ReviewNotice({ letter, list }: RequestProps) {
  const { id, status } = useRecord()
  const [isReturning, setReturning] = useState(false)
  if (letter.status !== 'draft' || letter.archived_at !== null || status !== 'active') return null
  const address = `/clients/${id}/letters/${letter.id}`
  const mine = waitsForMe(list)
  if (mine) {
    return (
      <Notice>
        <p>
          <strong>
            {mine.by === null ? (
              'You are asked'
            ) : (
              <>
                <bdi>{mine.by.name}</bdi> asks you
              </>
            )}{' '}
            to review this letter.
          </strong>{' '}
          {!list.may_approve && 'You may not approve it yourself.'}
        </p>
        {mine.message !== null && <p className={classes.words}>{mine.message}</p>}
        <Group gap="xs" mt="xs">
          <Button variant="default" size="xs" onClick={() => setReturning(true)}>
            Return with a reason
          </Button>
        </Group>
        {isReturning && <ReturnDialog {...{ address, letter, review: mine }} onClose={() => setReturning(false)} />}
      </Notice>
    )
  }
  const waiting = list.reviews.filter((each) => each.status === 'open')
  const [last] = list.reviews
  if (waiting.length > 0) {
    const names = new Intl.ListFormat('en-GB').format(waiting.map(({ reviewer }) => reviewer.name))
    return (
      <Notice>
        <p>Waiting for the review of {names}.</p>
      </Notice>
    )
  }
  if (last?.status === 'returned') {
    return (
      <Notice>
        <p>
          <strong>
            <bdi>{last.reviewer.name}</bdi> returned this letter.
          </strong>
        </p>
        <p className={classes.words}>{last.reason}</p>
      </Notice>
    )
  }
  if (last?.status === 'lapsed') {
    return (
      <Notice>
        <p>
          <bdi>{last.reviewer.name}</bdi> was asked to review this letter, but can no longer read this record. Ask
          someone else.
        </p>
      </Notice>
    )
  }
  if (list.may_approve) return null
  return (
    <Notice>
      <p>{mustAsk(list)}</p>
    </Notice>
  )
}

function mustAsk({ reviewers }: LetterReviewList): string {
  return reviewers.some((each) => each.may_approve)
    ? 'Someone else has to approve this letter: ask for a review.'
    : 'You may not approve this letter, and nobody who can read this record may: speak to a partner.'
}

function Notice({ children }: { readonly children: ReactNode }) {
  return (
    <section className={classes.notice} aria-label="Review">
      {children}
    </section>
  )
}
