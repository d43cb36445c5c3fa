import { Alert, Button, Group } from '@mantine/core'
import type { ShownInvoice } from '../../../src/invoicing/schema.ts'
import { moneyText } from '../../money.ts'
import classes from './draft-form.module.css'
import { Lines } from './lines.tsx'

interface DraftConflictProps {
  readonly theirs: ShownInvoice
  readonly onKeep: () => void
  readonly onDiscard: () => void
}

/** Shows the draft as it was saved in the meantime, and asks which of the two to keep, if it is still a draft. */
export function DraftConflict({ theirs, onKeep, onDiscard }: DraftConflictProps) {
  const isDraft = theirs.status === 'draft'
  const done = isDraft ? 'saved' : theirs.status === 'void' ? 'voided' : 'issued'
  return (
    <Alert
      color="orange"
      variant="light"
      role="alert"
      title={`This draft was ${done} on another page while you were writing`}
    >
      <p>
        {isDraft ? 'Your changes are not saved yet.' : 'Your changes can no longer be saved.'} The draft was {done} with
        a total of {moneyText(theirs.gross, theirs.currency)}
        {theirs.note !== '' && `, and the note “${theirs.note}”`}.
      </p>
      <details className={classes.theirs}>
        <summary>Its lines</summary>
        <Lines invoice={theirs} />
      </details>
      <Group gap="xs">
        {isDraft && <Button onClick={onKeep}>Save mine instead</Button>}
        <Button variant="default" onClick={onDiscard}>
          Discard mine
        </Button>
      </Group>
    </Alert>
  )
}
