import { Badge, Button } from '@mantine/core'
import { IconBuilding, IconMail, IconPassword } from '@tabler/icons-react'
import { useState } from 'react'
import { change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { Ago } from '../../components/time.tsx'
import type { OwnAccountShown } from '../../../src/signin/me/schema.ts'
import classes from './me.module.css'
import { Passkeys } from './passkeys.tsx'
import { PasswordDialog } from './password.tsx'
import { Row } from './row.tsx'
import { useAccount, useOwnChange, useRecently, type Changed } from './use-own-change.ts'

/** The ways in which this person can sign in. */
export function Methods() {
  const { me, offered } = useAccount()
  const offers = (id: string) => offered.credentials?.some((method) => method.id === id) ?? false
  return (
    <section className={classes.section}>
      <h2>How you sign in</h2>
      <p className={classes.about}>A change ends your other sessions, and we notify you by mail.</p>
      <ul className={classes.list}>
        {me.identities.map((identity) => (
          <IdentityRow key={identity.id} identity={identity} />
        ))}
        {me.unlinked.map(({ id, name }) => (
          <ProviderRow key={id} id={id} name={name} />
        ))}
        {offers('email_link') && <LinkRow />}
        {offers('password') && <PasswordRow />}
      </ul>
      {offers('passkey') && <Passkeys />}
    </section>
  )
}

const provider = <IconBuilding size={20} stroke={1.5} />

function IdentityRow({ identity }: { readonly identity: OwnAccountShown['identities'][number] }) {
  const { carryOut, isBusy } = useOwnChange()
  const { id, name, created_at: created } = identity
  async function unlink() {
    const sure = await confirm({
      title: `Unlink ${name}?`,
      text: `You will no longer be able to sign in with this account at ${name}. Your other ways to sign in remain.`,
      action: 'Unlink',
    })
    if (!sure) return
    await carryOut(() => change<Changed>(`/me/identities/${id}`, { method: 'DELETE' }), {
      done: `${name} is unlinked.`,
      failed: `${name} was not unlinked`,
    })
  }
  const about = (
    <>
      Linked <Ago time={created} />
    </>
  )
  const action = (
    <Button variant="default" loading={isBusy} aria-label={`Unlink ${name}`} onClick={() => void unlink()}>
      Unlink
    </Button>
  )
  return <Row icon={provider} title={name} about={about} actions={action} />
}

/** Links an account at a provider: the browser goes there and comes back to this page. */
function ProviderRow({ id, name }: { readonly id: string; readonly name: string }) {
  const recently = useRecently()
  const link = () => location.assign(`/auth/start/${id}?link=1&return_to=/me`)
  const action = (
    <Button variant="default" aria-label={`Link ${name}`} onClick={() => recently(link)}>
      Link
    </Button>
  )
  return <Row icon={provider} title={name} about="Not linked" actions={action} />
}

function LinkRow() {
  const { person } = useAccount().me
  const about = person.email === null ? 'You have no address. Ask a partner to add one.' : `Sent to ${person.email}`
  return <Row icon={<IconMail size={20} stroke={1.5} />} title="Email link" about={about} />
}

function PasswordRow() {
  const { me } = useAccount()
  const recently = useRecently()
  const { carryOut, isBusy } = useOwnChange()
  const [isOpen, setOpen] = useState(false)
  const isSet = me.methods.some(({ id }) => id === 'password')

  async function remove() {
    const sure = await confirm({
      title: 'Remove your password?',
      text: 'You will no longer be able to sign in with it. Your other ways to sign in remain.',
      action: 'Remove',
    })
    if (!sure) return
    await carryOut(() => change<Changed>('/me/password', { method: 'DELETE' }), {
      done: 'Your password was removed.',
      failed: 'The password was not removed',
    })
  }

  const actions = (
    <>
      {isSet && (
        <Button variant="default" loading={isBusy} aria-label="Remove the password" onClick={() => void remove()}>
          Remove
        </Button>
      )}
      <Button
        variant="default"
        aria-label={isSet ? 'Change the password' : 'Set a password'}
        onClick={() => recently(() => setOpen(true))}
      >
        {isSet ? 'Change' : 'Set'}
      </Button>
    </>
  )
  return (
    <>
      <Row
        icon={<IconPassword size={20} stroke={1.5} />}
        title="Password"
        badge={isSet && <Badge color="teal">Set</Badge>}
        about={isSet ? 'With your email address' : 'Not set'}
        actions={actions}
      />
      {isOpen && <PasswordDialog isSet={isSet} onClose={() => setOpen(false)} />}
    </>
  )
}
