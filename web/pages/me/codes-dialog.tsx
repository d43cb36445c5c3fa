import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { copyCodes, downloadCodes } from '../../recovery-codes.ts'
import { useFocusReturned } from '../../components/focus.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import classes from './me.module.css'

interface CodesDialogProps {
  readonly codes: readonly string[]
  readonly onClose: () => void
}

/** Ten codes, shown once. The dialog closes when the person confirms that they have saved them. */
export function CodesDialog({ codes, onClose }: CodesDialogProps) {
  useFocusReturned()
  const [isSaved, setSaved] = useState(false)
  async function copy() {
    try {
      await copyCodes(codes)
      notifyDone('The codes were copied.')
    } catch (error) {
      notifyFailure('The codes were not copied', error)
    }
  }
  return (
    <Modal
      opened
      onClose={() => undefined}
      title="Save your recovery codes"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
    >
      <div className={classes.form}>
        <p>
          If you lose your second factor, each of these codes lets you in once. They are shown only now, and earlier
          codes no longer work. Keep them where you keep other important papers.
        </p>
        <ol className={classes.codes}>
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ol>
        <Group gap="xs">
          <Button variant="default" data-autofocus onClick={() => void copy()}>
            Copy
          </Button>
          <Button variant="default" onClick={() => downloadCodes(codes)}>
            Download
          </Button>
          <Button variant="default" onClick={() => print()}>
            Print
          </Button>
        </Group>
        <label className={classes.check}>
          <input type="checkbox" checked={isSaved} onChange={({ currentTarget }) => setSaved(currentTarget.checked)} />I
          have saved these codes
        </label>
        <Group justify="flex-end">
          <Button disabled={!isSaved} onClick={onClose}>
            Done
          </Button>
        </Group>
      </div>
    </Modal>
  )
}
