import { Alert, Button } from '@mantine/core'
import type { Draft } from './draft.ts'

interface SaveRefusalProps {
  readonly draft: Draft
  /** The fields that show a refusal of their own value. */
  readonly shownAt: readonly string[]
}

/** Says why a form was not saved, and restores what someone archived. */
export function SaveRefusal({ draft: { error, fate, busy, restore }, shownAt }: SaveRefusalProps) {
  if (!error || shownAt.includes(error.refusal.field ?? '')) return null
  return (
    <Alert color="red" variant="light" role="alert" title={error.status === 0 ? 'No response' : 'Not saved'}>
      <p>
        {error.message}
        {error.status === 0 && ' Nothing is saved twice.'}
      </p>
      {fate === 'archived' && restore && (
        <Button variant="default" size="compact-sm" mt="xs" disabled={busy} onClick={restore}>
          Restore
        </Button>
      )}
    </Alert>
  )
}
