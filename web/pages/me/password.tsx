import { Alert, Button, Group, Modal, PasswordInput } from '@mantine/core'
import { useState, type SubmitEvent } from 'react'
import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { useFocusReturned } from '../../components/focus.ts'
import { notifyDone } from '../../components/notify.ts'
import classes from './me.module.css'
import { useAccount, useOwnChange, withEnded, type Changed } from './use-own-change.ts'

interface PasswordDialogProps {
  /** Whether there is one already, which must be given too. */
  readonly isSet: boolean
  readonly onClose: () => void
}

/** Sets or changes the password. The typed text stays after a refusal. */
export function PasswordDialog({ isSet, onClose }: PasswordDialogProps) {
  useFocusReturned()
  const { person } = useAccount().me
  const { revalidate } = useRevalidator()
  const { run, isBusy, error } = useOwnChange()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')

  async function submit(event: SubmitEvent) {
    event.preventDefault()
    const body = { password, ...(isSet && { current }) }
    const changed = await run(() => change<Changed>('/me/password', { method: 'POST', body }))
    if (!changed) return
    notifyDone(withEnded('Your password was changed.', changed))
    onClose()
    await revalidate()
  }

  return (
    <Modal opened onClose={onClose} title={isSet ? 'Change your password' : 'Set a password'} size="sm">
      <form className={classes.form} onSubmit={(event) => void submit(event)} noValidate>
        <input type="text" autoComplete="username" value={person.email ?? ''} readOnly hidden />
        {isSet && (
          <PasswordInput
            label="Current password"
            autoComplete="current-password"
            value={current}
            onChange={({ currentTarget }) => setCurrent(currentTarget.value)}
            data-autofocus
          />
        )}
        <PasswordInput
          label="New password"
          description="At least 15 characters, or 8 if you always need a second factor. Several words are easy to remember. Common passwords are refused."
          autoComplete="new-password"
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          data-autofocus={!isSet || undefined}
        />
        <Failure reason={error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            {isSet ? 'Change the password' : 'Set the password'}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}

/** Why a form was refused, announced by screen readers. */
export function Failure({ reason }: { readonly reason: string | undefined }) {
  return <div role="alert">{reason !== undefined && <Alert color="red">{reason}</Alert>}</div>
}
