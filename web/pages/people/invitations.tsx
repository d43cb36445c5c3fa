import { Badge, Button, Group } from '@mantine/core'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { useNow } from '../../components/clock.ts'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import type { ListedInvitation, ShownInvitation } from '../../../src/people/schema.ts'
import { roleNames } from '../../words.ts'
import type { Opened } from './dialogs.tsx'
import classes from './people.module.css'

interface InvitationsProps {
  readonly invitations: readonly ListedInvitation[]
  readonly open: (dialog: Opened) => void
}

/** Invitations that were neither accepted nor withdrawn. Shows nothing if there is none. */
export function Invitations({ invitations, open }: InvitationsProps) {
  if (invitations.length === 0) return null
  return (
    <section aria-labelledby="invitations" className={classes.invitations}>
      <h2 id="invitations">Invited</h2>
      <ul>
        {invitations.map((invitation) => (
          <InvitationRow key={invitation.id} invitation={invitation} open={open} />
        ))}
      </ul>
    </section>
  )
}

function InvitationRow({
  invitation,
  open,
}: Pick<InvitationsProps, 'open'> & { readonly invitation: ListedInvitation }) {
  const { id, name, email, role, invited_by: by, expires_at: expires } = invitation
  const { revalidate } = useRevalidator()
  const [busy, setBusy] = useState<'resend' | 'withdraw'>()
  const left = new Date(expires).getTime() - useNow()

  async function carryOut(what: typeof busy, work: () => Promise<unknown>) {
    setBusy(what)
    try {
      await work()
    } catch (error) {
      notifyFailure('The invitation was not changed', error)
    }
    setBusy(undefined)
    await revalidate()
  }
  const resend = async () => {
    const sent = await change<ShownInvitation>(`/people/invitations/${id}/resend`, { method: 'POST' })
    if (sent.link !== undefined) open({ dialog: 'link', email, link: sent.link })
    else notifyDone('The invitation was sent again. The previous link no longer works.')
  }
  const withdraw = async () => {
    const question = { text: 'The link no longer works. You can invite them again.', action: 'Withdraw' }
    if (!(await confirm({ title: `Withdraw the invitation of ${name}?`, ...question }))) return
    await change(`/people/invitations/${id}`, { method: 'DELETE' })
    notifyDone('The invitation was withdrawn.')
  }

  return (
    <li className={classes.invitation}>
      <span className={classes.who}>
        <span className={classes.name}>
          {name}
          {left <= 0 && <Badge color="orange">Expired</Badge>}
        </span>
        <span className={classes.email}>
          {email} · {roleNames[role]} · by {by?.name ?? 'the operator'}
          {left > 0 && ` · ${expiryOf(left)}`}
        </span>
      </span>
      <Group gap="xs" wrap="nowrap">
        <Button
          size="xs"
          variant="default"
          loading={busy === 'resend'}
          aria-label={`Send again to ${name}`}
          onClick={() => void carryOut('resend', resend)}
        >
          Send again
        </Button>
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          loading={busy === 'withdraw'}
          aria-label={`Withdraw the invitation of ${name}`}
          onClick={() => void carryOut('withdraw', withdraw)}
        >
          Withdraw
        </Button>
      </Group>
    </li>
  )
}

function expiryOf(left: number): string {
  const days = Math.floor(left / 86_400_000)
  if (days === 0) return 'expires within a day'
  return days === 1 ? 'expires in a day' : `expires in ${days} days`
}
