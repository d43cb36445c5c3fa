import { Kbd, Modal } from '@mantine/core'
import { useEffect, useState } from 'react'
import { areKeysOn, useKey } from './keys.ts'
import { useRole } from './role.ts'
import classes from './shortcuts.module.css'

const event = 'shortcuts'

/** Opens the list of keyboard shortcuts. */
export function openShortcuts(): void {
  dispatchEvent(new Event(event))
}

/** The name of the key that commands go with. */
const commandKey = navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl'

const groups = [
  {
    title: 'Everywhere',
    isForClients: false,
    keys: [
      { keys: [commandKey, 'K'], does: 'Go to a page or a record' },
      { keys: ['/'], does: 'Search' },
      { keys: ['?'], does: 'Show this list' },
    ],
  },
  {
    title: 'In lists',
    isForClients: false,
    keys: [
      { keys: ['j'], does: 'Next row' },
      { keys: ['k'], does: 'Previous row' },
      { keys: ['Enter'], does: 'Open the row' },
    ],
  },
  {
    title: 'In the list of clients, for partners',
    isForClients: true,
    keys: [
      { keys: ['x'], does: 'Select the row' },
      { keys: ['h'], does: 'Hand over the selected clients' },
      { keys: ['Esc'], does: 'Clear the selection' },
    ],
  },
  {
    title: 'In a record and in the list of clients',
    isForClients: true,
    keys: [
      { keys: ['n'], does: 'Add a note, a dispute, a letter or a client' },
      { keys: [commandKey, 'Enter'], does: 'Save what you write' },
      { keys: ['Esc'], does: 'Cancel' },
    ],
  },
] as const

/** The list of keyboard shortcuts, which `?` opens. Rendered once per page. */
export function Shortcuts() {
  const [opened, setOpened] = useState(false)
  const isDeveloper = useRole() === 'developer'
  const shown = groups.filter(({ isForClients }) => !(isForClients && isDeveloper))
  useKey('?', openShortcuts)
  useEffect(() => {
    const open = () => setOpened(true)
    addEventListener(event, open)
    return () => removeEventListener(event, open)
  }, [])
  return (
    <Modal opened={opened} onClose={() => setOpened(false)} title="Keyboard shortcuts" size="md">
      {shown.map(({ title, keys }) => (
        <section key={title} className={classes.group}>
          <h3>{title}</h3>
          <dl>
            {keys.map(({ keys: pressed, does }) => (
              <div key={does}>
                <dt>
                  {pressed.map((key) => (
                    <Kbd key={key}>{key}</Kbd>
                  ))}
                </dt>
                <dd>{does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      {!areKeysOn() && <p className={classes.off}>Single-key shortcuts are off. Turn them on in your account.</p>}
    </Modal>
  )
}
