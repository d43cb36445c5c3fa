import { ActionIcon, Drawer } from '@mantine/core'
import { IconMenu2, IconX } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import type { Viewer } from '../content.ts'
import { Navigation } from './navigation.tsx'
import classes from './shell.module.css'
import { RunningTimer } from './timer/running-timer.tsx'
import timerClasses from './timer/timer.module.css'
import { Wordmark } from './wordmark.tsx'

interface PhoneMenuProps {
  readonly viewer: Viewer
  /** Called when the menu was closed by a choice: the focus moves to that page. */
  readonly onLeft: () => void
}

/** The top bar of a narrow window and the menu that it opens. Closing the menu returns the focus to its button. */
export function PhoneMenu({ viewer, onLeft }: PhoneMenuProps) {
  const { key } = useLocation()
  /** Every navigation has its own key, even one to the same page. */
  const [openedAt, setOpenedAt] = useState<string>()
  if (openedAt !== undefined && openedAt !== key) setOpenedAt(undefined)
  const opened = openedAt === key
  const button = useRef<HTMLButtonElement>(null)
  useWideWindow(() => setOpenedAt(undefined))
  const wasOpened = useRef(false)
  useEffect(() => {
    if (wasOpened.current && !opened && document.activeElement !== button.current) onLeft()
    wasOpened.current = opened
  }, [opened, onLeft])
  return (
    <>
      <div className={classes.top}>
        <ActionIcon ref={button} onClick={() => setOpenedAt(key)} aria-label="Menu" aria-expanded={opened} size="lg">
          <IconMenu2 size={20} />
        </ActionIcon>
        <Wordmark />
        <div className={timerClasses.compact}>
          <RunningTimer />
        </div>
      </div>
      <Drawer
        opened={opened}
        onClose={() => {
          setOpenedAt(undefined)
          button.current?.focus()
        }}
        // It would take the focus from the chosen page.
        returnFocus={false}
        size={272}
        title={<Wordmark />}
        closeButtonProps={{ 'aria-label': 'Close the menu', icon: <IconX size={18} /> }}
        classNames={{ content: classes.drawer, body: classes.drawerBody, header: classes.drawerHeader }}
        transitionProps={{ duration: 120 }}
      >
        <Navigation viewer={viewer} />
      </Drawer>
    </>
  )
}

/** Calls `act` when the window becomes so wide that the navigation has its own column, as in shell.module.css. */
function useWideWindow(act: () => void): void {
  const latest = useRef(act)
  useEffect(() => {
    latest.current = act
  })
  useEffect(() => {
    const wide = matchMedia('(width > 52rem)')
    const listen = ({ matches }: MediaQueryListEvent) => matches && latest.current()
    wide.addEventListener('change', listen)
    return () => wide.removeEventListener('change', listen)
  }, [])
}
