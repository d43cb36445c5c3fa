import { readSetting, writeSetting } from '../../settings.ts'

/** For how long after recording time for a client, or refusing to, no more is offered, in ms. */
const settledFor = 15 * 60_000

/** By the id of the client, when. */
const settled = new Map<string, number>()
const channel = new BroadcastChannel('tollgate-recorded')

/** The person has recorded time for a client, or does not want to. */
export function noteRecorded(clientId: string): void {
  settled.set(clientId, Date.now())
  channel.postMessage(clientId)
}

channel.addEventListener('message', ({ data }: MessageEvent<string>) => settled.set(data, Date.now()))

export function wasJustRecorded(clientId: string): boolean {
  return Date.now() - (settled.get(clientId) ?? 0) < settledFor
}

/** Whether pages offer to record time after a note or a letter is saved. */
export function areOffersOn(): boolean {
  return readSetting('time-offers') !== 'off'
}

export function turnOffers(on: boolean): void {
  writeSetting('time-offers', on ? 'on' : 'off')
}
