import { useSyncExternalStore } from 'react'
import type { OwnTimer, Timer } from '../../../src/clients/timer/schema.ts'
import { ApiError, change, read } from '../../api.ts'
import { durationText } from '../../duration.ts'
import { confirm } from '../confirm.tsx'
import { newKey } from '../create.ts'
import { notifyDone, notifyFailure } from '../notify.ts'

/** The person's timer as this page shows it. */
export interface ShownTimer {
  readonly id: string
  readonly client: { readonly id: string; readonly name: string }
  /** What the time entry will say. */
  readonly text: string
  readonly startedAt: string
  /** When it began by the clock of this browser, in ms since 1970: the server said for how long it has run. */
  readonly began: number
  /** The minutes to record; undefined while it runs. */
  readonly minutes: number | undefined
}

/** What a timer is started for. */
export interface Work {
  readonly client: { readonly id: string; readonly name: string }
  readonly text: string
}

interface TimerState {
  readonly timer: ShownTimer | undefined
  /** Whether the dialog is open that records its time. */
  readonly isRecording: boolean
  /** What is started once that time was recorded or deleted. */
  readonly next: Work | undefined
}

let state: TimerState = { timer: undefined, isRecording: false, next: undefined }
const listeners = new Set<() => void>()
const channel = new BroadcastChannel('tollgate-timer')

export function useTimer(): TimerState {
  return useSyncExternalStore(watch, () => state)
}

function watch(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function update(changes: Partial<TimerState>): void {
  state = { ...state, ...changes }
  for (const listener of listeners) listener()
}

/** Reads the timer, which another page or device may have started or stopped. A failure leaves it as it is: it is read again. */
export async function refreshTimer(signal?: AbortSignal): Promise<void> {
  try {
    const known = state.timer?.id
    const { timer } = await read<OwnTimer>(known === undefined ? '/timer' : `/timer?known=${known}`, signal)
    show(timer)
  } catch {
    // No connection, or no session.
  }
}

channel.addEventListener('message', () => void refreshTimer())

/** Shows what the server said of the timer, which leaves out what this page knows. */
function show(timer: Timer | null): void {
  const shown = timer?.id === state.timer?.id ? state.timer : undefined
  const [client, text] = [timer?.client ?? shown?.client, timer?.text ?? shown?.text]
  if (timer === null || client === undefined || text === undefined)
    return update({ timer: undefined, isRecording: false, next: undefined })
  const { id, started_at: startedAt, stopped_at: stoppedAt, seconds, minutes } = timer
  const began = Date.now() - seconds * 1000
  // Of another timer, no time is being recorded here, and nothing was to follow it.
  const reset = shown === undefined ? { isRecording: false, next: undefined } : {}
  update({ timer: { id, client, text, startedAt, began, minutes: stoppedAt === null ? undefined : minutes }, ...reset })
}

function tellOthers(): void {
  channel.postMessage('changed')
}

/** For how many minutes a timer has run, rounded down. */
export function minutesOf({ began, minutes }: ShownTimer): number {
  return minutes ?? Math.max(0, Math.floor((Date.now() - began) / 60_000))
}

/** Starts a timer. If there is another one, asks whether to stop it and record its time first. */
export async function startTimer(work: Work): Promise<void> {
  await refreshTimer()
  const { timer } = state
  if (timer === undefined) return begin(work)
  const sure = await confirm({
    title: `Stop the timer for ${timer.client.name}?`,
    text: `You have one timer at a time. Record or delete its time (${durationText(minutesOf(timer))}), and the timer for ${work.client.name} starts.`,
    action: 'Stop it',
  })
  if (!sure) return
  await stopTimer()
  if (state.timer?.minutes !== undefined) update({ next: work })
}

async function begin({ client, text }: Work): Promise<void> {
  try {
    const body = text === '' ? {} : { text }
    show(await change<Timer>(`/clients/${client.id}/timer`, { method: 'POST', body, key: newKey() }))
    notifyDone(`The timer for ${client.name} runs.`)
    tellOthers()
  } catch (error) {
    notifyFailure('The timer was not started', error)
    if (error instanceof ApiError && error.status === 409) await refreshTimer()
  }
}

/** Stops the timer and opens the dialog that records its time. */
export async function stopTimer(): Promise<void> {
  const { timer } = state
  if (timer === undefined) return
  try {
    if (timer.minutes === undefined) {
      show(await change<Timer>(`/timer/${timer.id}/stop`, { method: 'POST' }))
      tellOthers()
    }
    update({ isRecording: true })
  } catch (error) {
    notifyFailure('The timer was not stopped', error)
    await refreshTimer()
  }
}

/** Closes the dialog. The timer waits, stopped. */
export function closeRecording(): void {
  update({ isRecording: false, next: undefined })
}

/** Removes the timer after its time was recorded or deleted, and starts the one that was to follow. Throws ApiError. */
export async function endTimer({ id }: ShownTimer): Promise<void> {
  // What follows is decided now: a page that sees meanwhile that the timer is gone would forget it.
  const { next } = state
  try {
    await change(`/timer/${id}`, { method: 'DELETE' })
  } catch (error) {
    // Another page was faster.
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
  update({ timer: undefined, isRecording: false, next: undefined })
  tellOthers()
  if (next) await begin(next)
}
