import { notifications } from '@mantine/notifications'
import { ApiError, reasonOf } from '../api.ts'

const closeButtonProps = { 'aria-label': 'Dismiss' }

export function notifyDone(message: string): void {
  notifications.show({ message, autoClose: 4000, closeButtonProps })
}

/** Shows an error until the person closes it. */
export function notifyFailure(title: string, error: unknown): void {
  const isStale = error instanceof ApiError && error.status === 412
  const message = isStale ? changedElsewhere : reasonOf(error)
  notifications.show({ title, message, color: 'red', autoClose: false, closeButtonProps })
}

/** The server advises callers of the API to read it again, which pages do themselves. */
const changedElsewhere = 'It was changed on another page in the meantime. This page now shows it as it is.'
