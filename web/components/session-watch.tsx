import { Button, Group, Modal } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useEffect, useState, useSyncExternalStore, type ReactNode } from 'react'
import { read } from '../api.ts'
import { content } from '../content.ts'
import { hasUnsaved } from '../unsaved.ts'
import { idleLimit, idleTime, sessionState, watchSession } from '../session.ts'
import { layers } from './layers.ts'
import classes from './session-watch.module.css'
import { signOut } from './sign-out.ts'

/** Warns before the session expires, then covers the page. Unsaved text is kept. */
export function SessionWatch({ children }: { readonly children: ReactNode }) {
  const { phase, resumedElsewhere } = useSyncExternalStore(watchSession, sessionState)
  useStayingAwake()
  useEffect(() => {
    if (!resumedElsewhere) return
    notifications.show({
      title: 'You are signed in again',
      message: 'You can continue in your other tab and close this one.',
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

/** Extends the session while the person types or points, even if the page sends nothing else. */
function useStayingAwake() {
  useEffect(() => {
    if (!content.viewer) return undefined
    function stay() {
      const { phase } = sessionState()
      if (phase === 'fine' && idleTime() > Math.min(idleLimit() / 4, 300_000)) void extend()
    }
    addEventListener('keydown', stay)
    addEventListener('pointerdown', stay)
    return () => {
      removeEventListener('keydown', stay)
      removeEventListener('pointerdown', stay)
    }
  }, [])
}

/** Any response extends the session; a 401 response covers the page. */
async function extend(): Promise<void> {
  try {
    await read('/me')
  } catch {
    // Without a response, the state is unknown until the next request.
  }
}

function Warning({ opened }: { readonly opened: boolean }) {
  const { endsAt, canBeLonger } = useSyncExternalStore(watchSession, sessionState)
  const left = useSecondsLeft(endsAt, opened)
  // A fixed end is announced once.
  const [seen, setSeen] = useState<number>()
  const close = () => (canBeLonger ? void extend() : setSeen(endsAt))
  useEffect(() => {
    if (opened && left <= -1) void extend()
  }, [opened, left])
  return (
    <Modal
      opened={opened && seen !== endsAt}
      onClose={close}
      title={canBeLonger ? 'Are you still there?' : 'Your session ends soon'}
      size="sm"
      withCloseButton={false}
    >
      <p role="timer">
        {canBeLonger
          ? `You have been inactive for a while. You will be signed out in ${spokenTime(left)}.`
          : `Your session has reached its maximum length and ends in ${spokenTime(left)}. You can save now, or sign in again afterwards. Unsaved text is kept.`}
      </p>
      <Group justify="flex-end" gap="xs" mt="lg">
        <Button variant="default" onClick={() => void signOut()}>
          Sign out now
        </Button>
        <Button data-autofocus onClick={close}>
          {canBeLonger ? 'Stay signed in' : 'Continue'}
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
        Sign in again in a new tab, then continue here.{hasUnsaved() && ' Your unsaved text is still on this page.'}
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
