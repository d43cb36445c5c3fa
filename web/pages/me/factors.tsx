import { Badge, Button } from '@mantine/core'
import { IconDeviceMobileMessage, IconFingerprint, IconLifebuoy, IconShieldLock } from '@tabler/icons-react'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone } from '../../components/notify.ts'
import type { OwnAccountShown } from '../../../src/signin/me/schema.ts'
import { CodesDialog } from './codes-dialog.tsx'
import classes from './me.module.css'
import { Row } from './row.tsx'
import { SetUpDialog } from './set-up.tsx'
import { useAccount, useOwnChange, withEnded, type Changed } from './use-own-change.ts'

type Factor = OwnAccountShown['factors'][number]

const words: Readonly<Record<string, { readonly about: string; readonly icon: typeof IconShieldLock }>> = {
  totp: { about: 'An app on your phone shows a new code every 30 seconds.', icon: IconShieldLock },
  sms: { about: 'We send a code to your phone each time.', icon: IconDeviceMobileMessage },
  passkey: { about: 'Any of your passkeys, listed above.', icon: IconFingerprint },
}

/** The person's second factors and recovery codes. */
export function Factors() {
  const { factors, factor_required: isRequired } = useAccount().me
  const [codes, setCodes] = useState<readonly string[]>()
  if (factors.length === 0) return null
  const isSetUp = factors.some((factor) => factor.set_up)
  return (
    <section className={classes.section}>
      <h2>Second factor</h2>
      <p className={classes.about}>
        {isRequired
          ? 'You must have a second factor.'
          : 'With a second factor, nobody can sign in as you with only your password or your mail.'}
        {!isSetUp && ' You have none yet.'}
      </p>
      <ul className={classes.list}>
        {factors.map((factor) => (
          <FactorRow key={factor.id} factor={factor} onCodes={setCodes} />
        ))}
        {isSetUp && <CodesRow onCodes={setCodes} />}
      </ul>
      {codes && <CodesDialog codes={codes} onClose={() => setCodes(undefined)} />}
    </section>
  )
}

interface FactorRowProps {
  readonly factor: Factor
  readonly onCodes: (codes: readonly string[] | undefined) => void
}

function FactorRow({ factor, onCodes }: FactorRowProps) {
  const { carryOut, isBusy } = useOwnChange()
  const [isOpen, setOpen] = useState(false)
  const { id, name, set_up: isSetUp } = factor
  const { about = '', icon: Icon = IconShieldLock } = words[id] ?? {}

  async function remove() {
    const sure = await confirm({
      title: `Remove: ${name.toLowerCase()}?`,
      text: 'You will no longer be asked for it. If it is your last second factor, your recovery codes are removed too.',
      action: 'Remove',
    })
    if (!sure) return
    await carryOut(() => change<Changed>(`/me/factors/${id}`, { method: 'DELETE' }), {
      done: `${name} is removed.`,
      failed: `${name} was not removed`,
    })
  }

  const setUp = isSetUp ? 'Replace' : 'Set up'
  const actions = (
    <>
      <Button variant="default" aria-label={`${setUp} ${name}`} onClick={() => setOpen(true)}>
        {setUp}
      </Button>
      {isSetUp && (
        <Button variant="default" loading={isBusy} aria-label={`Remove ${name}`} onClick={() => void remove()}>
          Remove
        </Button>
      )}
    </>
  )
  return (
    <>
      <Row
        icon={<Icon size={20} stroke={1.5} />}
        title={name}
        badge={isSetUp && <Badge color="teal">On</Badge>}
        about={about}
        // Passkeys are added and removed one by one, above.
        actions={id === 'passkey' ? undefined : actions}
      />
      {isOpen && (
        <SetUpDialog
          factor={factor}
          onClose={(recoveryCodes) => {
            setOpen(false)
            onCodes(recoveryCodes)
          }}
        />
      )}
    </>
  )
}

function CodesRow({ onCodes }: Pick<FactorRowProps, 'onCodes'>) {
  const { recovery_codes_left: left } = useAccount().me
  const { revalidate } = useRevalidator()
  const { run, isBusy, error } = useOwnChange()

  async function renew() {
    const sure = await confirm({
      title: 'Create new recovery codes?',
      text: 'The codes that you have now no longer work.',
      action: 'Create new codes',
    })
    if (!sure) return
    const renewed = await run(() =>
      change<Changed & { recovery_codes: readonly string[] }>('/me/recovery-codes', { method: 'POST', body: {} }),
    )
    if (!renewed) return
    notifyDone(withEnded('You have new recovery codes.', renewed))
    onCodes(renewed.recovery_codes)
    await revalidate()
  }

  const action = (
    <Button variant="default" loading={isBusy} onClick={() => void renew()}>
      Create new codes
    </Button>
  )
  return (
    <Row
      icon={<IconLifebuoy size={20} stroke={1.5} />}
      title="Recovery codes"
      badge={left <= 3 && <Badge color="orange">{left === 0 ? 'None left' : 'Few left'}</Badge>}
      about={error ?? `${left} of 10 left. Each lets you in once if you lose your second factor.`}
      actions={action}
    />
  )
}
