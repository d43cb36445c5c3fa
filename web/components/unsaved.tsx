import { Button, Group, Modal } from '@mantine/core'
import { useEffect, useId, useSyncExternalStore } from 'react'
import { useBlocker } from 'react-router'
import { hasDrafts, markDraft, watchDrafts } from '../drafts.ts'

/**
 * Keeps the page from being left while a form holds something unsaved. Returns how to say that all is saved now, before
 * the form is drawn again.
 */
export function useUnsaved(isUnsaved: boolean): () => void {
  const form = useId()
  useEffect(() => {
    markDraft(form, isUnsaved)
    return () => markDraft(form, false)
  }, [form, isUnsaved])
  return () => markDraft(form, false)
}

/** Asks before unsaved text is lost: by a move to another page here, and through the browser by everything else. */
export function UnsavedGuard() {
  const isUnsaved = useSyncExternalStore(watchDrafts, hasDrafts)
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    const isLeft = currentLocation.pathname !== nextLocation.pathname
    // A dialog that has an address, as that for a new client, is left by another hash.
    const isClosed = currentLocation.hash !== '' && currentLocation.hash !== nextLocation.hash
    return hasDrafts() && (isLeft || isClosed)
  })
  useEffect(() => {
    if (!isUnsaved) return undefined
    const ask = (event: BeforeUnloadEvent) => hasDrafts() && event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isUnsaved])
  useEffect(() => {
    // It was being saved, and is by now.
    if (!isUnsaved && blocker.state === 'blocked') blocker.proceed()
  }, [isUnsaved, blocker])
  return (
    <Modal
      opened={blocker.state === 'blocked'}
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
