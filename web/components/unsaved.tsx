import { Button, Group, Modal } from '@mantine/core'
import { useEffect, useId, useSyncExternalStore } from 'react'
import { useBlocker } from 'react-router'
import { hasDrafts, losesDrafts, markDraft, markLeaving, watchDrafts } from '../drafts.ts'

/**
 * Keeps the page from being left while a form holds something unsaved, but for the pages `within` an address where the
 * form stays. Returns how to say that all is saved now, before the form is drawn again.
 */
export function useUnsaved(isUnsaved: boolean, within?: string): () => void {
  const form = useId()
  useEffect(() => {
    markDraft(form, isUnsaved, within)
    return () => markDraft(form, false)
  }, [form, isUnsaved, within])
  return () => markDraft(form, false)
}

/** Asks before unsaved text is lost: by a move to another page here, and through the browser by everything else. */
export function UnsavedGuard() {
  const isUnsaved = useSyncExternalStore(watchDrafts, hasDrafts)
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    const isLeft = currentLocation.pathname !== nextLocation.pathname
    // A dialog that has an address, as that for a new client, is left by another hash.
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
    // It was being saved, and is by now.
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
      <p>What you have written here is not saved, and is lost when you leave.</p>
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
