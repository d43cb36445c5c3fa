import { Button } from '@mantine/core'
import { IconPlayerStop } from '@tabler/icons-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { Link } from 'react-router'
import { durationText } from '../../duration.ts'
import { whileThere } from '../live.ts'
import { useRole } from '../role.ts'
import classes from './timer.module.css'
import { minutesOf, refreshTimer, stopTimer, useTimer } from './timer.ts'

/** The person's timer in the frame of every page: for whom, for how long, and how to stop it. Nothing without a timer. */
export function RunningTimer() {
  const { timer } = useTimer()
  useTick(timer !== undefined && timer.minutes === undefined)
  if (timer === undefined) return null
  const isRunning = timer.minutes === undefined
  return (
    <section className={classes.timer} aria-label="Timer">
      <div className={classes.about}>
        <Link to={`/clients/${timer.client.id}`} className={classes.client}>
          {timer.client.name}
        </Link>
        <span>{isRunning ? durationText(minutesOf(timer)) : `${durationText(minutesOf(timer))}, not recorded`}</span>
      </div>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={isRunning && <IconPlayerStop size={14} aria-hidden />}
        aria-label={isRunning ? 'Stop the timer' : 'Record the time'}
        onClick={() => void stopTimer()}
      >
        {isRunning ? 'Stop' : 'Record'}
      </Button>
    </section>
  )
}

/** ms between two looks at the clock, which shows minutes. */
const tick = 5000

function useTick(isRunning: boolean): void {
  const [, setTicks] = useState(0)
  useEffect(() => {
    if (!isRunning) return undefined
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), tick)
    return () => clearInterval(timer)
  }, [isRunning])
}

const TimerDialog = lazy(async () => ({ default: (await import('./timer-dialog.tsx')).TimerDialog }))

/** ms between two readings of the timer, as on the overview. */
const pause = 30_000

/** Keeps the timer up to date, and shows the dialog that records its time. Part of the frame, so there is one for all pages. */
export function TimerWatch() {
  const { timer, isRecording } = useTimer()
  const isDeveloper = useRole() === 'developer'
  useEffect(() => {
    if (isDeveloper) return undefined
    void refreshTimer()
    return whileThere({ work: refreshTimer, pause })
  }, [isDeveloper])
  if (!isRecording || timer === undefined) return null
  return (
    <Suspense>
      <TimerDialog key={timer.id} timer={timer} />
    </Suspense>
  )
}
