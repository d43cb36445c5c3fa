import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { notifyFailure } from './notify.ts'
import classes from './undo.module.css'

/** Says that something was done, with a button that takes it back. `undo` throws ApiError. */
export function notifyUndoable(message: string, undo: () => Promise<unknown>): void {
  const id = crypto.randomUUID()
  async function takeBack() {
    notifications.hide(id)
    try {
      await undo()
    } catch (error) {
      notifyFailure('This was not undone', error)
    }
  }
  notifications.show({
    id,
    message: (
      <span className={classes.undo}>
        {message}
        <Button variant="subtle" size="compact-sm" onClick={() => void takeBack()}>
          Undo
        </Button>
      </span>
    ),
    // Long enough to reach the button with a keyboard.
    autoClose: 12_000,
    closeButtonProps: { 'aria-label': 'Dismiss' },
  })
}
