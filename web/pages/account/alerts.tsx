import { ActionIcon, Button, Menu } from '@mantine/core'
import { IconDots, IconPencil, IconPlus, IconSend, IconTrash } from '@tabler/icons-react'
import { startTransition, useState } from 'react'
import { useRevalidator } from 'react-router'
import type { AlertList } from '../../../src/alerts/schema.ts'
import { change } from '../../api.ts'
import { ActionsHead } from '../../components/actions-head.tsx'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import tables from '../../components/table.module.css'
import classes from './account.module.css'
import type { AccountData } from './account.tsx'
import { AlertAttempts } from './alert-attempts.tsx'
import { NewAlertDialog, SecretDialog, TermsDialog } from './alert-dialog.tsx'

interface AlertsProps {
  readonly data: Pick<AccountData, 'account' | 'alerts' | 'attempts'>
}

/** Where alerts go when the account has used a share of its credit or limit, or a batch has ended, and the attempts to send them. */
export function Alerts({ data: { account, alerts, attempts } }: AlertsProps) {
  const { revalidate } = useRevalidator()
  const [isOpen, setOpen] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  function created(issued: string | null) {
    setOpen(false)
    setSecret(issued)
    notifyDone('The alert was created.')
    void revalidate()
  }
  return (
    <section className={classes.section} aria-labelledby="alerts">
      <div className={classes.head}>
        <h2 id="alerts">Alerts</h2>
        {account.status === 'open' && (
          <Button variant="default" leftSection={<IconPlus size={15} />} onClick={() => setOpen(true)}>
            New alert
          </Button>
        )}
      </div>
      {alerts.length === 0 ? (
        <p className={classes.none}>
          No alerts yet. Add one to hear when most of the credit or of the limit is used, or when a batch ends.
        </p>
      ) : (
        <div className={tables.frame}>
          <table className={tables.table}>
            <thead>
              <tr>
                <th scope="col">To</th>
                <th scope="col">When</th>
                <ActionsHead />
              </tr>
            </thead>
            <tbody>
              {alerts.map((alert) => (
                <AlertRow key={alert.alert_id} account={account.id} alert={alert} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {attempts.length > 0 && <AlertAttempts attempts={attempts} onRefresh={() => void revalidate()} />}
      {isOpen && <NewAlertDialog account={account.id} onClose={() => setOpen(false)} onCreated={created} />}
      {secret !== null && <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </section>
  )
}

interface AlertRowProps {
  readonly account: string
  readonly alert: AlertList['alerts'][number]
}

function AlertRow({ account, alert }: AlertRowProps) {
  return (
    <tr>
      <td className={`${classes.models} ${tables.strong}`}>{targetOf(alert)}</td>
      <td>{termsOf(alert)}</td>
      <td className={tables.actions}>
        <AlertMenu account={account} alert={alert} />
      </td>
    </tr>
  )
}

const termsOf = ({ shares, batches }: AlertRowProps['alert']) =>
  [...shares.map((share) => `${share} %`), ...(batches ? ['end of a batch'] : [])].join(', ')

const targetOf = ({ email, webhook }: AlertRowProps['alert']) => email ?? webhook ?? ''

function AlertMenu({ account, alert }: AlertRowProps) {
  const { revalidate } = useRevalidator()
  const [isChanging, setChanging] = useState(false)
  const to = targetOf(alert)
  const address = `/accounts/${account}/alerts/${alert.alert_id}`
  async function test() {
    try {
      await change(`${address}/test`, { method: 'POST' })
      notifyDone('A test is being sent. The attempts show the outcome.')
    } catch (error) {
      notifyFailure('No test was sent', error)
    }
    await revalidate()
  }
  async function remove() {
    const text = `Nothing more is sent to ${to}. Alerts waiting to be sent are dropped.`
    if (!(await confirm({ title: 'Remove this alert?', text, action: 'Remove alert' }))) return
    try {
      await change(address, { method: 'DELETE' })
      notifyDone('The alert was removed.')
    } catch (error) {
      notifyFailure('The alert was not removed', error)
    }
    await revalidate()
  }
  async function changed() {
    notifyDone('The alert was changed.')
    await revalidate()
    startTransition(() => setChanging(false))
  }
  return (
    <>
      <Menu position="bottom-end" width={180} shadow="md">
        <Menu.Target>
          <ActionIcon aria-label={`Actions for the alert to ${to}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} />} onClick={() => setChanging(true)}>
            Change
          </Menu.Item>
          <Menu.Item leftSection={<IconSend size={16} />} onClick={() => void test()}>
            Send a test
          </Menu.Item>
          <Menu.Divider />
          <Menu.Item className={classes.danger} leftSection={<IconTrash size={16} />} onClick={() => void remove()}>
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isChanging && <TermsDialog {...{ address, alert }} onClose={() => setChanging(false)} onChanged={changed} />}
    </>
  )
}
