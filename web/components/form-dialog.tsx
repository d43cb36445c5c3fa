import { Modal } from '@mantine/core'
import { useEffect, useState, type ReactNode } from 'react'
import { focusPage } from './focus.ts'

interface FormDialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/**
 * A dialog that is open while it is rendered. Its form closes it, so that nothing typed is lost. The focus returns to what
 * opened it, or to the page if that is gone.
 */
export function FormDialog({ title, onClose, children }: FormDialogProps) {
  const [opener] = useState(() => document.activeElement)
  useEffect(() => () => void setTimeout(() => returnTo(opener)), [opener])
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeOnEscape={false}
      closeOnClickOutside={false}
      withCloseButton={false}
    >
      {children}
    </Modal>
  )
}

function returnTo(opener: Element | null): void {
  if (document.activeElement !== document.body) return
  if (opener instanceof HTMLElement && opener.isConnected) opener.focus()
  else focusPage()
}
