import { Button, Group, Modal } from '@mantine/core'
import { useEffect, useId, useSyncExternalStore } from 'react'
import { useBlocker } from 'react-router'

/** The forms of this page that hold something that is not saved. */
const dirty = new Set<string>()
const listeners = new Set<() => void>()

function mark(form: string, isDirty: boolean): void {
  if (dirty.has(form) === isDirty) return
  if (isDirty) dirty.add(form)
  else dirty.delete(form)
  for (const listener of listeners) listener()
}

function watch(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Keeps the page from being left while a form holds something unsaved. Returns how to say that all is saved now, before
 * the form is drawn again.
 */
export function useUnsaved(isDirty: boolean): () => void {
  const form = useId()
  useEffect(() => {
    mark(form, isDirty)
    return () => mark(form, false)
  }, [form, isDirty])
  return () => mark(form, false)
}

/** Asks before unsaved text is lost: by a move to another page here, and through the browser by everything else. */
export function UnsavedGuard() {
  const isDirty = useSyncExternalStore(watch, () => dirty.size > 0)
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    return dirty.size > 0 && currentLocation.pathname !== nextLocation.pathname
  })
  useEffect(() => {
    if (!isDirty) return undefined
    const ask = (event: BeforeUnloadEvent) => event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isDirty])
  const isAsking = blocker.state === 'blocked'
  return (
    <Modal
      opened={isAsking}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      withCloseButton={false}
      size="sm"
    >
      <p>What you have written here is not saved, and is lost when you leave.</p>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" color="red" onClick={() => blocker.proceed?.()}>
          Leave without saving
        </Button>
        <Button data-autofocus onClick={() => blocker.reset?.()}>
          Stay here
        </Button>
      </Group>
    </Modal>
  )
}
