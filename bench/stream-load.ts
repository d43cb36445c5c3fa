import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { formatRequest, type Load } from './load.ts'
import { createStreamReader, type Received } from './stream-reader.ts'

/** A request for a stream, and the number of events it must have. */
export interface StreamTarget extends Omit<Load, 'connections' | 'seconds' | 'expected'> {
  readonly events: number
}

/** A load of streams. When the time is over no stream starts, and running streams end. */
export interface StreamLoad extends StreamTarget {
  readonly seconds: number
  /** Each connection starts its next stream when the last one has ended, and plays at least one. */
  readonly connections?: number
  /** Instead: streams start at this rate, at random moments (a Poisson process). */
  readonly perSecond?: number
}

export interface StreamResult {
  readonly streams: number
  /** Refused, cut off, or with a wrong number of events. */
  readonly wrong: number
  readonly firstWrong: string | undefined
  /** Events that arrive after the time do not count. */
  readonly eventsPerSecond: number
  /** ms from the request to the first text. */
  readonly firstText: { readonly p50: number; readonly p99: number }
  /** The longest time between two events of one stream, in ms. */
  readonly longestGap: number
}

/** Runs a load, and waits until its last stream has ended. */
export async function runStreams(load: StreamLoad): Promise<StreamResult> {
  const end = performance.now() + load.seconds * 1000
  const tally = createTally(load, end)
  const streams = createStreams(load, tally.record)
  if (load.perSecond === undefined) {
    await Promise.all(
      Array.from({ length: load.connections ?? 1 }, async () => {
        do await streams.play()
        while (performance.now() < end)
      }),
    )
  } else await playAtRandom(streams.play, load.perSecond, end)
  streams.close()
  return tally.result()
}

async function playAtRandom(play: () => Promise<void>, perSecond: number, end: number): Promise<void> {
  const playing: Promise<void>[] = []
  let due = performance.now()
  for (;;) {
    due += (-Math.log(1 - Math.random()) * 1000) / perSecond
    if (due > end) break
    const early = due - performance.now()
    if (early > 0) await wait(early)
    playing.push(play())
  }
  await Promise.all(playing)
}

/** Each `play` runs one stream. Idle connections are reused. */
function createStreams(load: StreamLoad, record: StreamRecorder): { play: () => Promise<void>; close(): void } {
  const requests = load.keys.map((key) => formatRequest(load, key))
  const idle: Socket[] = []
  let sent = 0

  async function play(): Promise<void> {
    const reused = idle.pop()
    const socket = reused && !reused.destroyed ? reused : await open(load.port)
    const reader = createStreamReader()
    let counted = 0
    const sentAt = performance.now()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cut = (): void => resolve(false)
    const read = (data: Buffer): void => {
      const now = performance.now()
      const isComplete = reader.push(data, now)
      record.events(reader.events - counted, now)
      counted = reader.events
      if (isComplete) resolve(true)
    }
    socket.on('data', read).once('close', cut)
    socket.write(requests[sent++ % requests.length] ?? '')
    const isComplete = await promise
    socket.off('data', read).off('close', cut)
    record.stream(reader, sentAt, reader.refusal ?? (isComplete ? undefined : 'cut off'))
    if (isComplete && reader.refusal === undefined) idle.push(socket)
    else socket.destroy()
  }

  return {
    play,
    close() {
      for (const socket of idle) socket.destroy()
    },
  }
}

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay(true)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

interface StreamRecorder {
  events(count: number, now: number): void
  stream(received: Received, sentAt: number, fault: string | undefined): void
}

function createTally({ events: expected, seconds }: StreamLoad, end: number) {
  const waits: number[] = []
  let [streams, wrong, inTime, longestGap] = [0, 0, 0, 0]
  let firstWrong: string | undefined
  const record: StreamRecorder = {
    events(count, now) {
      if (now <= end) inTime += count
    },
    stream({ events, textAt, longestGap: gap }, sentAt, fault) {
      streams++
      waits.push(textAt - sentAt)
      longestGap = Math.max(longestGap, gap)
      if (fault === undefined && events === expected) return
      wrong++
      firstWrong ??= fault ?? `${events} events instead of ${expected}`
    },
  }
  function result(): StreamResult {
    waits.sort((a, b) => a - b)
    const quantile = (share: number): number => waits[Math.floor(waits.length * share)] ?? Number.NaN
    const firstText = { p50: quantile(0.5), p99: quantile(0.99) }
    return { streams, wrong, firstWrong, eventsPerSecond: inTime / seconds, firstText, longestGap }
  }
  return { record, result }
}
