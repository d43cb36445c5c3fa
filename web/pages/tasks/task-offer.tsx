import { Button, CloseButton, Kbd } from '@mantine/core'
import { IconCheckbox } from '@tabler/icons-react'
import { useState } from 'react'
import { useRevalidator } from 'react-router'
import type { Task } from '../../../src/clients/schema.ts'
import { createMaker } from '../../components/create.ts'
import { areKeysOn, useKey } from '../../components/keys.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { dateText, weekdayText } from '../../locale.ts'
import { today } from '../../zone.ts'
import type { Item } from '../record/items.tsx'
import classes from '../record/offers.module.css'
import type { Saved } from '../record/saved.ts'
import { deadlineIn, type Deadline } from './deadline-in.ts'

interface TaskOfferProps {
  readonly saved: Saved
  readonly onClose: () => void
}

/** Offers a task if a note or a dispute was saved that says by when something is to be done. Only a click or a key adds it. */
export function TaskOffer({ saved, onClose }: TaskOfferProps) {
  const deadline = newDeadlineIn(saved)
  return deadline ? <Offer saved={saved} deadline={deadline} onClose={onClose} /> : null
}

function Offer({ saved, deadline: { sentence, day }, onClose }: TaskOfferProps & { readonly deadline: Deadline }) {
  const { clientId, noun, item } = saved
  const { revalidate } = useRevalidator()
  const [make] = useState(() => createMaker<Task>(`/clients/${clientId}/tasks`, { about: { noun, id: item.id } }))
  const [busy, setBusy] = useState(false)
  useKey('t', () => void add())

  async function add() {
    if (busy) return
    setBusy(true)
    try {
      await make({ title: sentence, due: day })
      notifyDone('The task was added.')
      onClose()
      await revalidate()
    } catch (error) {
      notifyFailure('The task was not added', error)
      setBusy(false)
    }
  }

  return (
    <section className={classes.offer} aria-label="Suggested task">
      <IconCheckbox size={16} stroke={1.6} aria-hidden />
      <output>
        Add a task: “{sentence}” <span className={classes.day}>due {dayNamed(day)}</span>
      </output>
      <Button
        size="compact-sm"
        loading={busy}
        onClick={() => void add()}
        rightSection={areKeysOn() && <Kbd size="xs">T</Kbd>}
      >
        Add task
      </Button>
      <CloseButton size="sm" aria-label="Dismiss the suggested task" onClick={onClose} />
    </section>
  )
}

/** With its weekday this year: that of another year says little. */
const dayNamed = (day: string): string => (day.slice(0, 4) === today().slice(0, 4) ? weekdayText(day) : dateText(day))

/** What the text says now and did not say before. */
function newDeadlineIn({ item, before }: Saved): Deadline | undefined {
  const deadline = deadlineIn(textOf(item), today())
  if (deadline === undefined || ('invoice' in item && item.due === deadline.day)) return undefined
  const known = before && deadlineIn(textOf(before), today())
  return known?.sentence === deadline.sentence && known.day === deadline.day ? undefined : deadline
}

function textOf(item: Item): string {
  if ('participants' in item) return item.text
  return 'position' in item ? item.position : ''
}
