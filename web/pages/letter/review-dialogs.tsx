import { startTransition, useState } from 'react'
import { useRevalidator } from 'react-router'
import type { LetterReview, LetterReviewList } from '../../../src/clients/letters/review/schema.ts'
import type { Letter } from '../../../src/clients/schema.ts'
import { ApiError, change } from '../../api.ts'
import { newKey } from '../../components/create.ts'
import { EditForm } from '../../components/edit-form.tsx'
import { FormDialog } from '../../components/form-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import type { Field } from '../../fields.ts'

interface DialogProps {
  /** The URL of the letter. */
  readonly address: string
  readonly letter: Letter
  readonly onClose: () => void
}

/** Asks a person to review a letter as it is now. */
export function AskDialog({ address, letter, list, onClose }: DialogProps & { readonly list: LetterReviewList }) {
  const { revalidate } = useRevalidator()
  const [key] = useState(newKey)
  const [version] = useState(letter.version)
  const fields: readonly Field[] = [
    {
      name: 'reviewer',
      label: 'Reviewer',
      kind: 'choice',
      choices: Object.fromEntries(
        list.reviewers.map(({ id, name, may_approve: may }) => [id, may ? name : `${name} (may not approve it)`]),
      ),
    },
    { name: 'message', label: 'What to look at', kind: 'lines', optional: true, maxLength: 2000 },
  ]
  const first = list.reviewers.find((each) => each.may_approve) ?? list.reviewers[0]
  const initial = { reviewer: first?.id ?? '', message: '' }
  return (
    <FormDialog title="Ask for a review" onClose={onClose}>
      <EditForm
        label="Ask for a review"
        saveLabel="Ask"
        fields={fields}
        initial={initial}
        keptAs={`${address}/reviews`}
        save={async (typed) => {
          const { reviewer, message } = { ...initial, ...typed }
          const body = { reviewer, ...(message && { message }) }
          await changeLetter(() => change(`${address}/reviews`, { method: 'POST', body, key, version }))
        }}
        onSaved={async () => {
          await revalidate()
          notifyDone('The review was asked for.')
          startTransition(onClose)
        }}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

const reason: readonly Field[] = [
  { name: 'reason', label: 'What is to be changed', kind: 'lines', required: true, maxLength: 5000 },
]

/** Returns a letter, as the reviewer has read it, to the person who asked. */
export function ReturnDialog({ address, letter, review, onClose }: DialogProps & { readonly review: LetterReview }) {
  const { revalidate } = useRevalidator()
  const [version] = useState(letter.version)
  return (
    <FormDialog title="Return this letter" onClose={onClose}>
      <EditForm
        label="Return this letter"
        saveLabel="Return"
        fields={reason}
        initial={{ reason: '' }}
        keptAs={`${address}/reviews/${review.id}/return`}
        save={(body) =>
          changeLetter(() => change(`${address}/reviews/${review.id}/return`, { method: 'POST', body, version }))
        }
        onSaved={async () => {
          await revalidate()
          notifyDone('The letter was returned.')
          startTransition(onClose)
        }}
        onCancel={onClose}
      />
    </FormDialog>
  )
}

/** A letter that has changed since is no conflict with what was typed here: it is to be read again. */
async function changeLetter(work: () => Promise<unknown>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error
    const changed =
      'The letter has changed since you opened this. Close this, and read the letter again: your text is kept.'
    throw new ApiError(409, { ...error.refusal, reason: changed })
  }
}
