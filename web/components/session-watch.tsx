import { Button, Group, Modal } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'
import { read } from '../api.ts'
import { content } from '../content.ts'
import { hasDrafts } from '../drafts.ts'
import { idleLimit, idleTime, sessionState, watchSession } from '../session.ts'
import { layers } from './layers.ts'
import classes from './session-watch.module.css'
import { signOut } from './sign-out.ts'

/** Warns before the session ends, and covers the page when it has: what is typed stays where it is. */
export function SessionWatch({ children }: { readonly children: ReactNode }) {
  const { phase, resumedElsewhere } = useSyncExternalStore(watchSession, sessionState)
  useStayingAwake()
  useEffect(() => {
    if (!resumedElsewhere) return
    notifications.show({
      title: 'You are signed in again',
      message: 'Your other tab goes on where it was. You can close this one.',
      autoClose: false,
    })
  }, [resumedElsewhere])
  return (
    <>
      <div inert={phase === 'ended'} className={phase === 'ended' ? classes.covered : undefined}>
        {children}
      </div>
      {content.viewer && <Warning opened={phase === 'warning'} />}
      {content.viewer && <Ended opened={phase === 'ended'} />}
    </>
  )
}

/** Who types or points is not idle, also where nothing is sent: the server is told now and then. */
function useStayingAwake() {
  useEffect(() => {
    if (!content.viewer) return undefined
    function stay() {
      const { phase } = sessionState()
      if (phase === 'fine' && idleTime() > Math.min(idleLimit() / 4, 300_000)) void ask()
    }
    addEventListener('keydown', stay)
    addEventListener('pointerdown', stay)
    return () => {
      removeEventListener('keydown', stay)
      removeEventListener('pointerdown', stay)
    }
  }, [])
}

/** Any answer makes the session longer; a refusal shows by itself that it has ended. */
async function ask(): Promise<void> {
  try {
    await read('/me')
  } catch {
    // Without an answer nothing is known; the next request says more.
  }
}

function Warning({ opened }: { readonly opened: boolean }) {
  const { endsAt, canBeLonger } = useSyncExternalStore(watchSession, sessionState)
  const left = useSecondsLeft(endsAt, opened)
  // An end that cannot be put off is announced once.
  const [seen, setSeen] = useState<number>()
  const close = () => (canBeLonger ? void ask() : setSeen(endsAt))
  useEffect(() => {
    if (opened && left <= -1) void ask()
  }, [opened, left])
  return (
    <Modal
      opened={opened && seen !== endsAt}
      onClose={close}
      title={canBeLonger ? 'Are you still there?' : 'Your sign-in ends soon'}
      size="sm"
      withCloseButton={false}
    >
      <p role="timer">
        {canBeLonger
          ? `You have not used Tollgate for a while and are signed out in ${spokenTime(left)}.`
          : `Your sign-in has lasted as long as it may and ends in ${spokenTime(left)}. Save what you are writing, or sign in again when it has ended: nothing is lost.`}
      </p>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={() => void signOut()}>
          Sign out now
        </Button>
        <Button data-autofocus onClick={close}>
          {canBeLonger ? 'Stay signed in' : 'Go on'}
        </Button>
      </Group>
    </Modal>
  )
}

function Ended({ opened }: { readonly opened: boolean }) {
  return (
    <Modal
      opened={opened}
      onClose={() => undefined}
      title="Your session has ended"
      size="sm"
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={layers.cover}
      overlayProps={{ backgroundOpacity: 1, color: 'var(--side)' }}
    >
      <p>
        Sign in again, in a tab that opens for it. Then this page goes on where it was
        {hasDrafts() ? ': what you have typed is still here.' : '.'}
      </p>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button component="a" href="/signin?return_to=/me" target="_blank" data-autofocus>
          Sign in again
        </Button>
      </Group>
    </Modal>
  )
}

function useSecondsLeft(endsAt: number, running: boolean): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    if (!running) return undefined
    const tick = () => setNow(Date.now())
    tick()
    const timer = setInterval(tick, 1000)
    return () => clearInterval(timer)
  }, [running])
  return Math.ceil((endsAt - now) / 1000)
}

function spokenTime(seconds: number): string {
  if (seconds <= 0) return 'a moment'
  return seconds > 90 ? `${Math.ceil(seconds / 60)} minutes` : `${seconds} seconds`
}
