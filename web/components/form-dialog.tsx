import { Modal } from '@mantine/core'
import type { ReactNode } from 'react'
import { useFocusReturned } from './focus.ts'

interface FormDialogProps {
  readonly title: string
  readonly size?: 'lg'
  /** Whether Escape closes the dialog, for one in which no text is typed. Default: its form handles the key. */
  readonly closeOnEscape?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/**
 * A dialog that is open while it is rendered. Its form closes it, so that nothing typed is lost. The focus returns to what
 * opened it, or to the page if that is gone.
 */
export function FormDialog({ closeOnEscape = false, children, ...props }: FormDialogProps) {
  useFocusReturned()
  return (
    <Modal opened closeOnEscape={closeOnEscape} closeOnClickOutside={false} withCloseButton={false} {...props}>
      {children}
    </Modal>
  )
}
