import { Alert, Button } from '@mantine/core'
import { IconEraser } from '@tabler/icons-react'
import { useState } from 'react'
import { Link, useRevalidator } from 'react-router'
import type { ClientRecord } from '../../../src/clients/schema.ts'
import { change } from '../../api.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { useRole } from '../../components/role.ts'
import { dayText, exactTime } from '../../locale.ts'
import classes from './erasure.module.css'

/** Says that the client will be erased, when, why and who decided it. */
export function ErasureBanner({ record }: { readonly record: ClientRecord }) {
  const { id, name, erasure } = record
  const isPartner = useRole() === 'partner'
  if (erasure === null) return null
  const { due_at: due, reason, scheduled_at: since, scheduled_by: by } = erasure
  return (
    <Alert
      className={classes.banner ?? ''}
      color="orange"
      variant="light"
      icon={<IconEraser size={18} aria-hidden />}
      title={due === null ? 'This client is to be erased' : `This client will be erased on ${exactTime(due)}`}
    >
      <p>
        {by === null ? 'Scheduled by the retention rule' : `Scheduled by ${by.name}`} on {dayText(new Date(since))}:{' '}
        {reason}
      </p>
      <p>All names and texts of the record will be permanently removed. Until then, you can use the record as usual.</p>
      {isPartner && (
        <p className={classes.actions}>
          <WithdrawButton client={{ id, name }} />
          <Link to="/erasures">All scheduled erasures</Link>
        </p>
      )}
    </Alert>
  )
}

interface WithdrawButtonProps {
  readonly client: { readonly id: string; readonly name: string }
}

/** Withdraws the erasure of a client, and loads the page again. */
export function WithdrawButton({ client: { id, name } }: WithdrawButtonProps) {
  const { revalidate } = useRevalidator()
  const [busy, setBusy] = useState(false)
  async function withdraw() {
    setBusy(true)
    try {
      await change(`/clients/${id}/erasure`, { method: 'DELETE' })
      notifyDone(`${name} will not be erased.`)
    } catch (error) {
      notifyFailure('The erasure was not withdrawn', error)
    }
    await revalidate()
    setBusy(false)
  }
  return (
    <Button
      variant="default"
      size="xs"
      loading={busy}
      aria-label={`Withdraw the erasure of ${name}`}
      onClick={() => void withdraw()}
    >
      Withdraw
    </Button>
  )
}
