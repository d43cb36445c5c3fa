import { Button } from '@mantine/core'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import type { ClientList } from '../../../src/clients/schema.ts'
import { useKey } from '../../components/keys.ts'
import { notifyDone } from '../../components/notify.ts'
import { numberText } from '../../locale.ts'
import { counted, totalOf } from '../../words.ts'
import { HandOverDialog } from './hand-over.tsx'
import classes from './selection.module.css'
import { mostSelected, type Selection } from './selection.ts'

interface SelectionBarProps {
  readonly selection: Selection
  readonly list: ClientList
  /** Called after clients were handed over, before the list is read again. */
  readonly onDone: () => void
}

/** The actions on the selected clients. */
export function SelectionBar({ selection, list, onDone }: SelectionBarProps) {
  const { clients, busy, clear, selectAll } = selection
  const { revalidate } = useRevalidator()
  const [isOpen, setOpen] = useState(false)
  const canOpen = clients.size > 0
  useKey('h', () => canOpen && setOpen(true))
  useKey('Escape', () => !isOpen && canOpen && clear())

  function done(message: string) {
    notifyDone(message)
    setOpen(false)
    clear()
    onDone()
    void revalidate()
    document.querySelector<HTMLElement>('#main')?.focus({ preventScroll: true })
  }

  return (
    <>
      <output className={classes.said}>{canOpen ? `${counted(clients.size, 'client')} selected` : ''}</output>
      {canOpen && (
        <section className={classes.bar} aria-label="Selection">
          <strong>{numberText(clients.size)} selected</strong>
          {clients.size < Math.min(list.total, mostSelected) && (
            <Button variant="subtle" size="compact-sm" loading={busy} onClick={selectAll}>
              {list.total > mostSelected
                ? `Select the first ${numberText(mostSelected)} that match`
                : `Select all ${totalOf(list)} that match`}
            </Button>
          )}
          <span className={classes.actions}>
            <Button variant="subtle" color="gray" onClick={clear}>
              Clear
            </Button>
            <Button onClick={() => setOpen(true)}>Hand over…</Button>
          </span>
        </section>
      )}
      {isOpen && <HandOverDialog selection={selection} onClose={() => setOpen(false)} onDone={done} />}
    </>
  )
}
