import { Button } from '@mantine/core'
import { useCallback, useRef, useState } from 'react'
import { useNavigate, useRevalidator } from 'react-router'
import type { Letter } from '../../../src/clients/schema.ts'
import { createMaker } from '../../components/create.ts'
import { confirmDiscard } from '../../components/confirm.tsx'
import { useDraft } from '../../components/draft.ts'
import { isLeaving } from '../../unsaved.ts'
import { letterFields } from '../../fields.ts'
import { tellSaved } from '../record/saved.ts'
import { useRecord } from '../record/use-record.ts'
import { LetterFields } from './letter-form.tsx'
import { quoted } from './quoted.ts'
import { Sources } from './sources.tsx'
import { startingAt } from './starts-at.ts'
import { Workspace } from './workspace.tsx'

const fields = letterFields()

/** A letter that a person writes. */
export function NewLetter() {
  const { id } = useRecord()
  const navigate = useNavigate()
  const { revalidate } = useRevalidator()
  const address = `/clients/${id}/letters`
  const made = useRef<Letter>(undefined)
  const [make] = useState(() => createMaker<Letter>(address))
  const draft = useDraft({
    fields,
    initial: { subject: '', body: '' },
    keptAs: address,
    save: async (body) => {
      made.current = await make(body)
    },
    // Replaces the form in the history, so that Back leads to the list.
    onSaved: async () => {
      await revalidate()
      if (made.current) tellSaved({ clientId: id, noun: 'letter', item: made.current })
      if (made.current && !isLeaving()) {
        await navigate(`${address}/${made.current.id}`, { replace: true, state: startingAt('body') })
      }
    },
  })
  const insert = useRef<(markdown: string) => void>(undefined)
  const onReady = useCallback((act: (markdown: string) => void) => {
    insert.current = act
  }, [])
  async function cancel() {
    if (draft.isDirty && !(await confirmDiscard())) return
    draft.settle()
    await navigate(address, { replace: true })
  }
  return (
    <Workspace panels={[{ name: 'Sources', content: <Sources onQuote={(text) => insert.current?.(quoted(text))} /> }]}>
      <LetterFields
        label="New letter"
        draft={draft}
        startsAt="subject"
        onReady={onReady}
        onCancel={() => void cancel()}
      >
        <Button type="submit" loading={draft.busy}>
          Add letter
        </Button>
        <Button variant="subtle" color="gray" disabled={draft.busy} onClick={() => void cancel()}>
          {draft.isDirty ? 'Discard' : 'Cancel'}
        </Button>
      </LetterFields>
    </Workspace>
  )
}
