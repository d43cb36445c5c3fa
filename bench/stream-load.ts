import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { requestOf, type Load } from './load.ts'
import { createStreamReader, type Received } from './stream-reader.ts'
import { startWorker, type Worker } from './worker.ts'

/** What is asked for: a stream of so many events, the last one included. */
export interface StreamTarget extends Omit<Load, 'connections' | 'seconds' | 'expected'> {
  readonly events: number
}

/** Streams, each of which is waited for; after the time no more are begun. */
export interface StreamLoad extends StreamTarget {
  readonly seconds: number
  /** Every connection asks for its next stream when the last one has ended; it asks at least once. */
  readonly connections?: number
  /** Or streams begin at this rate, at random moments (a Poisson process), whatever becomes of those before. */
  readonly perSecond?: number
}

export interface StreamOutcome {
  readonly streams: number
  /** Those that were refused, cut off, or had another number of events. */
  readonly wrong: number
  readonly firstWrong: string | undefined
  /** Within the time, by the second. */
  readonly eventsPerSecond: number
  /** Milliseconds from the request to the first text. */
  readonly firstText: { readonly p50: number; readonly p99: number }
  /** The longest time between two events of one stream, in milliseconds. */
  readonly longestGap: number
}

/** The load generator for streams, in a process of its own. */
export type StreamGenerator = Worker<StreamLoad, StreamOutcome>

export const startStreamGenerator = (): StreamGenerator => startWorker<StreamLoad, StreamOutcome>(import.meta.filename)

/** Runs a load to its end. */
export async function runStreams(load: StreamLoad): Promise<StreamOutcome> {
  const end = performance.now() + load.seconds * 1000
  const tally = createTally(load, end)
  const streams = createStreams(load, tally.note)
  if (load.perSecond === undefined) {
    await Promise.all(
      Array.from({ length: load.connections ?? 1 }, async () => {
        do await streams.play()
        while (performance.now() < end)
      }),
    )
  } else await playAtRandom(streams.play, load.perSecond, end)
  streams.close()
  return tally.outcome()
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

/** Plays one stream each time, over connections that are kept. */
function createStreams(load: StreamLoad, note: Note): { play: () => Promise<void>; close(): void } {
  const requests = load.keys.map((key) => requestOf(load, key))
  const idle: Socket[] = []
  let sent = 0

  async function play(): Promise<void> {
    const kept = idle.pop()
    const socket = kept && !kept.destroyed ? kept : await open(load.port)
    const reader = createStreamReader()
    let counted = 0
    const since = performance.now()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const cut = (): void => resolve(false)
    const read = (data: Buffer): void => {
      const now = performance.now()
      const isOver = reader.push(data, now)
      note.events(reader.events - counted, now)
      counted = reader.events
      if (isOver) resolve(true)
    }
    socket.on('data', read).once('close', cut)
    socket.write(requests[sent++ % requests.length] ?? '')
    const isWhole = await promise
    socket.off('data', read).off('close', cut)
    note.stream(reader, since, reader.refusal ?? (isWhole ? undefined : 'cut off'))
    if (isWhole && reader.refusal === undefined) idle.push(socket)
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

interface Note {
  events(count: number, now: number): void
  stream(received: Received, since: number, fault: string | undefined): void
}

function createTally({ events: expected, seconds }: StreamLoad, end: number) {
  const waits: number[] = []
  let [streams, wrong, inTime, longestGap] = [0, 0, 0, 0]
  let firstWrong: string | undefined
  const note: Note = {
    events(count, now) {
      if (now <= end) inTime += count
    },
    stream({ events, textAt, longestGap: gap }, since, fault) {
      streams++
      waits.push(textAt - since)
      longestGap = Math.max(longestGap, gap)
      if (fault === undefined && events === expected) return
      wrong++
      firstWrong ??= fault ?? `${events} events instead of ${expected}`
    },
  }
  function outcome(): StreamOutcome {
    waits.sort((a, b) => a - b)
    const quantile = (share: number): number => waits[Math.floor(waits.length * share)] ?? Number.NaN
    const firstText = { p50: quantile(0.5), p99: quantile(0.99) }
    return { streams, wrong, firstWrong, eventsPerSecond: inTime / seconds, firstText, longestGap }
  }
  return { note, outcome }
}

if (process.argv[1] === import.meta.filename) {
  process.on('message', (load: StreamLoad) => void runStreams(load).then((outcome) => process.send?.(outcome)))
}
