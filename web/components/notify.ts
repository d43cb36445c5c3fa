import { notifications } from '@mantine/notifications'
import { reasonOf } from '../api.ts'

const closeButtonProps = { 'aria-label': 'Dismiss' }

export function notifyDone(message: string): void {
  notifications.show({ message, autoClose: 4000, closeButtonProps })
}

/** Shows an error until the person closes it. */
export function notifyFailure(title: string, error: unknown): void {
  notifications.show({ title, message: reasonOf(error), color: 'red', autoClose: false, closeButtonProps })
}
