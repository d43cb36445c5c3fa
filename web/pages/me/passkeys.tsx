import { Button, Group, Modal, TextInput } from '@mantine/core'
import { IconFingerprint } from '@tabler/icons-react'
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/browser'
import { useState, type SubmitEvent } from 'react'
import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { useFocusReturned } from '../../components/focus.ts'
import { notifyDone } from '../../components/notify.ts'
import { Ago } from '../../components/time.tsx'
import { canUsePasskeys, createPasskey } from '../../passkeys.ts'
import type { OwnAccountShown } from '../../../src/signin/me/schema.ts'
import classes from './me.module.css'
import { Failure } from './password.tsx'
import { CodesDialog } from './codes-dialog.tsx'
import { Row } from './row.tsx'
import { useAccount, useOwnChange, withEnded, type Changed } from './use-own-change.ts'

type Passkey = OwnAccountShown['passkeys'][number]

/** The person's passkeys, which they can name. */
export function Passkeys() {
  const { passkeys } = useAccount().me
  return (
    <>
      <h3>Passkeys</h3>
      <p className={classes.about}>
        A passkey signs you in with your fingerprint, face or PIN, without a password and without a second factor.
      </p>
      {passkeys.length > 0 && (
        <ul className={classes.list}>
          {passkeys.map((passkey) => (
            <PasskeyRow key={passkey.id} passkey={passkey} />
          ))}
        </ul>
      )}
      <AddPasskey isFirst={passkeys.length === 0} />
    </>
  )
}

interface Added extends Changed {
  readonly recovery_codes?: readonly string[]
}

function AddPasskey({ isFirst }: { readonly isFirst: boolean }) {
  const { revalidate } = useRevalidator()
  const { run, isBusy, error } = useOwnChange()
  const [codes, setCodes] = useState<readonly string[]>()

  async function add() {
    const added = await run(async () => {
      const { challenge } = await change<{ challenge: { options: PublicKeyCredentialCreationOptionsJSON } }>(
        '/me/factors/passkey/start',
        { method: 'POST', body: {} },
      )
      const credential = await createPasskey(challenge.options)
      return change<Added>('/me/factors/passkey', { method: 'POST', body: { input: { credential } } })
    })
    if (!added) return
    notifyDone(withEnded('The passkey was added.', added))
    setCodes(added.recovery_codes)
    await revalidate()
  }

  return (
    <>
      {!canUsePasskeys && <p className={classes.about}>This browser cannot create passkeys.</p>}
      <Failure reason={error} />
      {canUsePasskeys && (
        <Button variant="default" loading={isBusy} onClick={() => void add()}>
          {isFirst ? 'Add a passkey' : 'Add another passkey'}
        </Button>
      )}
      {codes && <CodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
    </>
  )
}

function PasskeyRow({ passkey }: { readonly passkey: Passkey }) {
  const { carryOut, isBusy } = useOwnChange()
  const [isNaming, setNaming] = useState(false)
  const { id, name, created_at: created, last_used_at: used } = passkey

  async function remove() {
    const sure = await confirm({
      title: `Remove ${name}?`,
      text: 'It will no longer sign you in here. Delete it on its device too, so that the device stops offering it.',
      action: 'Remove',
    })
    if (!sure) return
    await carryOut(() => change<Changed>(`/me/passkeys/${id}`, { method: 'DELETE' }), {
      done: 'The passkey was removed.',
      failed: 'The passkey was not removed',
    })
  }

  const about = (
    <>
      Added <Ago time={created} />
      {used === null ? ' · never used' : <> · last used {<Ago time={used} />}</>}
    </>
  )
  const actions = (
    <>
      <Button variant="default" aria-label={`Rename ${name}`} onClick={() => setNaming(true)}>
        Rename
      </Button>
      <Button variant="default" loading={isBusy} aria-label={`Remove ${name}`} onClick={() => void remove()}>
        Remove
      </Button>
    </>
  )
  return (
    <>
      <Row icon={<IconFingerprint size={20} stroke={1.5} />} title={name} about={about} actions={actions} />
      {isNaming && <RenameDialog passkey={passkey} onClose={() => setNaming(false)} />}
    </>
  )
}

function RenameDialog({ passkey, onClose }: { readonly passkey: Passkey; readonly onClose: () => void }) {
  useFocusReturned()
  const { revalidate } = useRevalidator()
  const { run, isBusy, error } = useOwnChange()
  const [name, setName] = useState(passkey.name)

  async function submit(event: SubmitEvent) {
    event.preventDefault()
    const renamed = await run(() => change(`/me/passkeys/${passkey.id}`, { method: 'PATCH', body: { name } }))
    if (renamed === undefined) return
    onClose()
    await revalidate()
  }

  return (
    <Modal opened onClose={onClose} title="Rename the passkey" size="sm">
      <form className={classes.form} onSubmit={(event) => void submit(event)}>
        <TextInput
          label="Name"
          maxLength={200}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
          data-autofocus
        />
        <Failure reason={error} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy}>
            Rename
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
