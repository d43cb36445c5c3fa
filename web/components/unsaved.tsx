import { Button, Group, Modal } from '@mantine/core'
import { useCallback, useEffect, useId, useState, useSyncExternalStore } from 'react'
import { useBlocker } from 'react-router'
import {
  discardUnsaved,
  hasUnsaved,
  isMarked,
  losesUnsaved,
  markUnsaved,
  markLeaving,
  saveUnsaved,
  watchUnsaved,
} from '../unsaved.ts'

interface UnsavedNeeds {
  readonly within?: string | undefined
  readonly save?: (() => Promise<void>) | undefined
}

/**
 * Guards a form with unsaved text, except on pages at and below the path `within`, where the form stays open. `save` is called when it
 * is left.
 */
export function useUnsaved(isUnsaved: boolean, { within, save }: UnsavedNeeds) {
  const form = useId()
  useEffect(() => {
    markUnsaved(form, isUnsaved ? { within, save } : undefined)
    return () => markUnsaved(form)
  }, [form, isUnsaved, within, save])
  return {
    /** Marks the form as saved or discarded at once, before it rerenders. */
    settle: () => markUnsaved(form),
    /** Whether the form has text that is neither saved nor discarded. */
    isLosing: useCallback(() => isMarked(form), [form]),
  }
}

/**
 * Asks before unsaved text is lost, unless its form saves it: with a dialog for moves within the portal, with the browser's prompt
 * otherwise.
 */
export function UnsavedGuard() {
  const isUnsaved = useSyncExternalStore(watchUnsaved, hasUnsaved)
  const blocker = useBlocker(({ currentLocation, nextLocation }) => {
    const isLeft = currentLocation.pathname !== nextLocation.pathname
    // A dialog with its own hash, such as that for a new client, closes when the hash changes.
    const isClosed = currentLocation.hash !== '' && currentLocation.hash !== nextLocation.hash
    return (isLeft || isClosed) && losesUnsaved(nextLocation.pathname)
  })
  const { state, location: next } = blocker
  const isInTheWay = useSyncExternalStore(watchUnsaved, () => next !== undefined && losesUnsaved(next.pathname))
  useEffect(() => markLeaving(state !== 'unblocked'), [state])
  useEffect(() => {
    if (!isUnsaved) return undefined
    const ask = (event: BeforeUnloadEvent) => hasUnsaved() && event.preventDefault()
    addEventListener('beforeunload', ask)
    return () => removeEventListener('beforeunload', ask)
  }, [isUnsaved])
  const [asked, setAsked] = useState<typeof next>()
  useEffect(() => {
    if (next === undefined) return
    const askAfterSaving = async () => {
      await saveUnsaved(next.pathname)
      setAsked(next)
    }
    void askAfterSaving()
  }, [next])
  useEffect(() => {
    // Saved or discarded.
    if (!isInTheWay && blocker.state === 'blocked') blocker.proceed()
  }, [isInTheWay, blocker])
  return (
    <Modal
      opened={state === 'blocked' && asked === next}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      withCloseButton={false}
      size="sm"
    >
      <p>You have unsaved changes. Leaving this page discards them.</p>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={() => next && discardUnsaved(next.pathname)}>
          Leave without saving
        </Button>
        <Button data-autofocus onClick={() => blocker.reset?.()}>
          Stay here
        </Button>
      </Group>
    </Modal>
  )
}
