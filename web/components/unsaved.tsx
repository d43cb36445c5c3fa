import { Button, Group, Modal } from '@mantine/core'
import { useEffect, useId, useSyncExternalStore } from 'react'
import { useBlocker } from 'react-router'
import { hasDrafts, losesDrafts, markDraft, markLeaving, watchDrafts } from '../drafts.ts'

/**
 * Guards a form with unsaved text, except on pages at and below the path `within`, where the form stays open. Returns a
 * function that marks the form as saved at once, before it rerenders.
 */
export function useUnsaved(isUnsaved: boolean, within?: string): () => void {
  const form = useId()
  useEffect(() => {
    markDraft(form, isUnsaved, within)
    return () => markDraft(form, false)
  }, [form, isUnsaved, within])
  return () => markDraft(form, false)
}

/** Asks before unsaved text is lost: with a dialog for moves within the portal, with the browser's prompt otherwise. */
export function UnsavedGuard() {
  const isUnsaved = useSyncExternalStore(watchDrafts, hasDrafts)
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    const isLeft = currentLocation.pathname !== nextLocation.pathname
    // A dialog with its own hash, such as that for a new client, closes when the hash changes.
    const isClosed = currentLocation.hash !== '' && currentLocation.hash !== nextLocation.hash
    return (isLeft || isClosed) && losesDrafts(nextLocation.pathname)
  })
  const { state, location: next } = blocker
  const isInTheWay = useSyncExternalStore(watchDrafts, () => next !== undefined && losesDrafts(next.pathname))
  useEffect(() => markLeaving(state !== 'unblocked'), [state])
  useEffect(() => {
    if (!isUnsaved) return undefined
    const ask = (event: BeforeUnloadEvent) => hasDrafts() && event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isUnsaved])
  useEffect(() => {
    // Saving has completed.
    if (!isInTheWay && blocker.state === 'blocked') blocker.proceed()
  }, [isInTheWay, blocker])
  return (
    <Modal
      opened={state === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      withCloseButton={false}
      size="sm"
    >
      <p>You have unsaved changes. Leaving this page discards them.</p>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={() => blocker.proceed?.()}>
          Leave without saving
        </Button>
        <Button data-autofocus onClick={() => blocker.reset?.()}>
          Stay here
        </Button>
      </Group>
    </Modal>
  )
}
