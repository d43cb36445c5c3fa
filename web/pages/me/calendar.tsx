import { Button, Group, Modal, TextInput } from '@mantine/core'
import { IconCalendar } from '@tabler/icons-react'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { useFocusReturned } from '../../components/focus.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { Ago } from '../../components/time.tsx'
import classes from './me.module.css'
import { Row } from './row.tsx'
import { useAccount, useOwnChange } from './use-own-change.ts'

/** The address at which the person's calendar program reads their tasks. */
export function Calendar() {
  const { person, calendar } = useAccount().me
  const { revalidate } = useRevalidator()
  const { run, isBusy, error } = useOwnChange()
  const [address, setAddress] = useState<string>()
  if (person.role === 'developer') return null

  async function create() {
    const sure =
      calendar === null ||
      (await confirm({
        title: 'Create a new address?',
        text: 'The address that you have now no longer works.',
        action: 'Create a new address',
      }))
    if (!sure) return
    const created = await run(() => change<{ address: string }>('/me/calendar', { method: 'POST', body: {} }))
    if (!created) return
    setAddress(created.address)
    await revalidate()
  }

  async function remove() {
    try {
      await change('/me/calendar', { method: 'DELETE' })
      notifyDone('The address no longer works.')
    } catch (failure) {
      notifyFailure('The address was not removed', failure)
    }
    await revalidate()
  }

  const actions = (
    <>
      <Button variant="default" loading={isBusy} onClick={() => void create()}>
        {calendar === null ? 'Create an address' : 'Create a new address'}
      </Button>
      {calendar !== null && (
        <Button variant="default" aria-label="Remove the address of your calendar" onClick={() => void remove()}>
          Remove
        </Button>
      )}
    </>
  )
  return (
    <section className={classes.section}>
      <h2>Calendar</h2>
      <p className={classes.about}>
        Your calendar program can show your tasks, with the names of clients. It reads them at a secret address, without
        signing in: give it only to programs that you trust with them. When you sign out everywhere or change how you
        sign in, the address stops working.
      </p>
      <ul className={classes.list}>
        <Row
          icon={<IconCalendar size={20} stroke={1.5} />}
          title="Your tasks"
          about={error ?? <State calendar={calendar} />}
          actions={actions}
        />
      </ul>
      {address !== undefined && <AddressDialog address={address} onClose={() => setAddress(undefined)} />}
    </section>
  )
}

function State({ calendar }: Pick<ReturnType<typeof useAccount>['me'], 'calendar'>) {
  if (calendar === null) return 'No address yet.'
  const { created_at: created, read_at: read } = calendar
  return (
    <>
      Created <Ago time={created} />
      {read === null ? (
        ', never read.'
      ) : (
        <>
          , last read <Ago time={read} />.
        </>
      )}
    </>
  )
}

function AddressDialog({ address, onClose }: { readonly address: string; readonly onClose: () => void }) {
  useFocusReturned()
  async function copy() {
    try {
      await navigator.clipboard.writeText(address)
      notifyDone('The address was copied.')
    } catch (error) {
      notifyFailure('The address was not copied', error)
    }
  }
  return (
    <Modal opened onClose={onClose} title="The address of your calendar" closeOnClickOutside={false}>
      <div className={classes.form}>
        <p>Add a calendar by its address (a subscription) in your calendar program. The address is shown only now.</p>
        <TextInput label="Address" value={address} readOnly onFocus={({ currentTarget }) => currentTarget.select()} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" data-autofocus onClick={() => void copy()}>
            Copy
          </Button>
          <Button onClick={onClose}>Done</Button>
        </Group>
      </div>
    </Modal>
  )
}
