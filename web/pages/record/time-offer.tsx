import { Button, CloseButton, TextInput } from '@mantine/core'
import { IconClock } from '@tabler/icons-react'
import { useEffect, useRef, useState, type SubmitEvent } from 'react'
import { useRevalidator } from 'react-router'
import type { TimeEntry } from '../../../src/clients/schema.ts'
import { ApiError } from '../../api.ts'
import { createMaker } from '../../components/create.ts'
import { notifyDone, notifyFailure } from '../../components/notify.ts'
import { areOffersOn, noteRecorded, wasJustRecorded } from '../../components/timer/recorded.ts'
import { useTimer } from '../../components/timer/timer.ts'
import { minutesIn } from '../../duration.ts'
import { bodyOf, nouns, sentBody } from '../../fields.ts'
import { today } from '../../zone.ts'
import classes from './offers.module.css'
import type { Saved } from './saved.ts'
import { workOn } from './work.ts'

const { fields } = nouns.time_entry

interface TimeOfferProps {
  readonly saved: Saved
  readonly onClose: () => void
}

/**
 * Offers to record ten minutes after a note or a letter was saved. Not if a timer has the time for this client, or the person has just recorded
 * some or refused to.
 */
export function TimeOffer({ saved, onClose }: TimeOfferProps) {
  const { clientId, noun } = saved
  const { timer } = useTimer()
  // Decided when it was saved: recording closes the offer.
  const [isWanted] = useState(
    () => (noun === 'note' || noun === 'letter') && areOffersOn() && !wasJustRecorded(clientId),
  )
  if (!isWanted || timer?.client.id === clientId) return null
  return <Offer saved={saved} onClose={onClose} />
}

function Offer({ saved: { clientId, item }, onClose }: TimeOfferProps) {
  const { revalidate } = useRevalidator()
  const [make] = useState(() => createMaker<TimeEntry>(`/clients/${clientId}/time_entries`))
  const [minutes, setMinutes] = useState('10')
  const [text, setText] = useState(workOn(item))
  /** Undefined until the server has refused the time because the firm has no default. */
  const [rate, setRate] = useState<string>()
  const rateInput = useRef<HTMLInputElement>(null)
  const needsRate = rate !== undefined
  useEffect(() => {
    if (needsRate) rateInput.current?.focus()
  }, [needsRate])
  const [busy, setBusy] = useState(false)
  const isClear = minutesIn(minutes) !== undefined

  async function record(event: SubmitEvent) {
    event.preventDefault()
    setBusy(true)
    try {
      const values = { date: today(), minutes, text, rate: rate ?? '', billable: 'true' }
      await make(sentBody(fields, bodyOf(fields, values, {})))
      noteRecorded(clientId)
      notifyDone('The time was recorded.')
      onClose()
      await revalidate()
    } catch (error) {
      setBusy(false)
      if (!needsRate && error instanceof ApiError && error.refusal.field === 'rate') setRate('')
      else notifyFailure('The time was not recorded', error)
    }
  }
  function dismiss() {
    noteRecorded(clientId)
    onClose()
  }

  return (
    <section className={classes.offer} aria-label="Suggested time">
      <IconClock size={16} stroke={1.6} aria-hidden />
      <form className={classes.time} onSubmit={(event) => void record(event)}>
        <TextInput
          size="xs"
          className={classes.minutes}
          aria-label="Minutes"
          value={minutes}
          error={!isClear}
          maxLength={20}
          rightSection="min"
          onChange={({ currentTarget }) => setMinutes(currentTarget.value)}
        />
        <TextInput
          size="xs"
          className={classes.work}
          aria-label="Work"
          value={text}
          required
          maxLength={280}
          onChange={({ currentTarget }) => setText(currentTarget.value)}
        />
        {needsRate && (
          <TextInput
            size="xs"
            className={classes.rate}
            aria-label="Hourly rate"
            placeholder="Hourly rate"
            value={rate}
            required
            ref={rateInput}
            maxLength={30}
            onChange={({ currentTarget }) => setRate(currentTarget.value)}
          />
        )}
        <Button type="submit" size="compact-sm" variant="default" loading={busy} disabled={!isClear}>
          Record time
        </Button>
      </form>
      <CloseButton size="sm" aria-label="Dismiss the suggested time" onClick={dismiss} />
    </section>
  )
}
