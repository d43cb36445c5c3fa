import { Badge, Button, SegmentedControl, Switch, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { useState } from 'react'
import { useLoaderData, useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { areKeysOn, turnKeys } from '../../components/keys.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { Page } from '../../components/page.tsx'
import { signOut } from '../../components/sign-out.ts'
import { Ago, exactTime } from '../../components/time.tsx'
import { schemeOf } from '../../settings.ts'
import type { ListedSession, Me } from '../../../src/signin/me-schema.ts'
import { roleNames } from '../../words.ts'
import classes from './me.module.css'

/** The person's account, sessions and settings of this browser. */
export function MePage() {
  const { person, session, sessions } = useLoaderData<Me>()
  return (
    <Page title="Your account" heading={<h1>{person.name}</h1>} aside={roleNames[person.role]}>
      <section className={classes.section}>
        <h2>Where you are signed in</h2>
        <p className={classes.about}>
          {`This session ends on ${exactTime(session.expires_at)}, or after ${minutes(session.idle_seconds)} of inactivity.`}
        </p>
        <ul className={classes.list}>
          {sessions.map((each) => (
            <SessionRow key={each.id} session={each} />
          ))}
        </ul>
        <Button variant="default" color="red" onClick={() => void signOutEverywhere()}>
          Sign out everywhere
        </Button>
      </section>
      <Appearance />
      <section className={classes.section}>
        <h2>Account</h2>
        <dl className={classes.facts}>
          <dt>Email</dt>
          <dd>{person.email ?? 'None'}</dd>
          <dt>Role</dt>
          <dd>{roleNames[person.role]}</dd>
        </dl>
      </section>
    </Page>
  )
}

function SessionRow({ session }: { readonly session: ListedSession }) {
  const { revalidate } = useRevalidator()
  const { device, address, method_name: method, created_at: created, last_seen_at: seen, current } = session
  const isPhone = /iphone|android|mobile/i.test(device)

  async function end() {
    try {
      await change(`/me/sessions/${session.id}`, { method: 'DELETE' })
      notifyDone('The session was ended.')
    } catch (error) {
      notifyFailure('The session was not ended', error)
    }
    await revalidate()
  }

  return (
    <li className={classes.session}>
      {isPhone ? <IconDeviceMobile size={20} stroke={1.5} /> : <IconDeviceDesktop size={20} stroke={1.5} />}
      <div className={classes.device}>
        <p>
          <strong>{device === '' ? 'Unknown device' : device}</strong>
          {current && <Badge color="teal">This device</Badge>}
        </p>
        <p className={classes.about}>
          {address}
          {address !== '' && ' · '}
          signed in with {method} <Ago time={created} /> · last active <Ago time={seen} />
        </p>
      </div>
      {!current && (
        <Button variant="default" onClick={() => void end()}>
          End
        </Button>
      )}
    </li>
  )
}

async function signOutEverywhere() {
  const sure = await confirm({
    title: 'Sign out everywhere?',
    text: 'All your sessions end immediately, on this device and on all others.',
    action: 'Sign out everywhere',
  })
  if (sure) await signOut('/me/sessions', 'DELETE')
}

const schemes = [
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
  { value: 'auto', label: 'System' },
]

function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const [keys, setKeys] = useState(areKeysOn)
  return (
    <section className={classes.section}>
      <h2>This browser</h2>
      <div className={classes.settings}>
        <SegmentedControl
          aria-label="Theme"
          size="xs"
          data={schemes}
          value={colorScheme}
          onChange={(value) => setColorScheme(schemeOf(value) ?? 'auto')}
        />
        <Switch
          size="sm"
          label="Keyboard shortcuts: / to search, j and k to move in lists, n for a new entry"
          checked={keys}
          onChange={({ currentTarget }) => {
            turnKeys(currentTarget.checked)
            setKeys(currentTarget.checked)
          }}
        />
      </div>
    </section>
  )
}

function minutes(seconds: number): string {
  return seconds < 60 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`
}
