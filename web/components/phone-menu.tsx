import { ActionIcon, Drawer } from '@mantine/core'
import { IconMenu2, IconX } from '@tabler/icons-react'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'react-router'
import type { Viewer } from '../content.ts'
import { Navigation } from './navigation.tsx'
import classes from './shell.module.css'
import { Wordmark } from './wordmark.tsx'

interface PhoneMenuProps {
  readonly viewer: Viewer
  /** Told when it has been left for a page: the keyboard goes on there. */
  readonly onLeft: () => void
}

/** In a narrow window, the bar on top and the menu that it opens. Closed without a choice, the keyboard is at its button. */
export function PhoneMenu({ viewer, onLeft }: PhoneMenuProps) {
  const { key } = useLocation()
  /** Each move has a key of its own, also one to the page that is shown already. */
  const [openedAt, setOpenedAt] = useState<string>()
  if (openedAt !== undefined && openedAt !== key) setOpenedAt(undefined)
  const opened = openedAt === key
  const button = useRef<HTMLButtonElement>(null)
  const wasOpened = useRef(false)
  useEffect(() => {
    if (wasOpened.current && !opened && document.activeElement !== button.current) onLeft()
    wasOpened.current = opened
  }, [opened, onLeft])
  return (
    <>
      <header className={classes.top}>
        <ActionIcon ref={button} onClick={() => setOpenedAt(key)} aria-label="Menu" aria-expanded={opened} size="lg">
          <IconMenu2 size={20} />
        </ActionIcon>
        <Wordmark />
      </header>
      <Drawer
        opened={opened}
        onClose={() => {
          setOpenedAt(undefined)
          button.current?.focus()
        }}
        // It would take the keyboard from the page that was chosen.
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
