import { Badge, Button } from '@mantine/core'
import { IconDeviceDesktop, IconDeviceMobile } from '@tabler/icons-react'
import { useRevalidator } from 'react-router'
import { change } from '../../api.ts'
import { confirm } from '../../components/confirm.tsx'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { signOut } from '../../components/sign-out.ts'
import { Ago } from '../../components/time.tsx'
import { exactTime } from '../../locale.ts'
import type { ListedSession } from '../../../src/signin/me/schema.ts'
import classes from './me.module.css'
import { useAccount } from './use-own-change.ts'

/** The browsers in which the person is signed in. */
export function Sessions() {
  const { session, sessions } = useAccount().me
  return (
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
  )
}

function SessionRow({ session }: { readonly session: ListedSession }) {
  const { revalidate } = useRevalidator()
  const { device, address, method_name: method, created_at: created, last_seen_at: seen, current } = session
  const isPhone = /ios|android/i.test(device)

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
    <li className={classes.row}>
      {isPhone ? <IconDeviceMobile size={20} stroke={1.5} /> : <IconDeviceDesktop size={20} stroke={1.5} />}
      <div className={classes.what}>
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

function minutes(seconds: number): string {
  return seconds < 60 ? `${seconds} seconds` : `${Math.round(seconds / 60)} minutes`
}
