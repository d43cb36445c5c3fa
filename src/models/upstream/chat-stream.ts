import type { RunLimits, StopReason } from '../model.ts'
import { createDeltaReader } from './chat-deltas.ts'
import { createEventReader } from './event-reader.ts'
import { Failure, unusable } from './failure.ts'
import type { Reception } from './reception.ts'
import type { ReplyStream } from './relay.ts'

/**
 * Reads a streamed chat completion. The reply is complete only after the event `[DONE]`. A stream that ends without it, or
 * without a finish reason, has failed.
 */
export function createChatStream(reception: Reception, limits: RunLimits): ReplyStream {
  const events = createEventReader(take)
  const readDelta = createDeltaReader(limits)
  const joiner = createJoiner()
  let [pieces, bytes] = [0, 0]
  let inputTokens: number | undefined
  let outputTokens: number | undefined
  let stopReason: StopReason | undefined
  let ending: StopReason | Failure | undefined
  let hasEnded = false
  let ready: string[] = []

  async function read(): Promise<readonly string[]> {
    ready = []
    while (ready.length === 0 && ending === undefined) await readOn()
    if (ending instanceof Failure && pieces > 0) ending = new Failure(ending.problem, { repeatable: false })
    if (ending !== undefined && ready.length === 0) reception.abandon()
    return ready
  }

  async function readOn(): Promise<void> {
    try {
      const chunk = await reception.read()
      if (chunk === 'abandoned') ending = 'cancelled'
      else if (chunk === 'end') {
        hasEnded = true
        events.end()
        ending ??= unusable('a stream without its last event', true)
      } else events.push(chunk)
    } catch (error) {
      ending = error instanceof Failure ? error : unusable('an event that cannot be read')
    }
  }

  function take(data: string): void {
    if (ending !== undefined) return
    if (data === '[DONE]') return finish()
    // An event that the end of the stream cuts off is ignored. Only `[DONE]` may lack its blank line.
    if (hasEnded) return
    const delta = readDelta(data)
    if (delta.generated) note(delta.text)
    // Assigned, not added: servers that report usage on every event report the total each time.
    inputTokens = delta.inputTokens ?? inputTokens
    outputTokens = delta.outputTokens ?? outputTokens
    stopReason = delta.stopReason ?? stopReason
    const text = joiner.add(delta.text)
    if (text !== '') ready.push(text)
  }

  function finish(): void {
    ending = stopReason ?? unusable('a stream without a finish reason')
    const rest = joiner.rest()
    if (rest !== '') ready.push(rest)
    reception.finish()
  }

  function note(text: string): void {
    if (pieces === 0) reception.begun()
    pieces += 1
    bytes += Buffer.byteLength(text)
  }

  return Object.freeze({
    read,
    abandon: reception.abandon,
    get ending() {
      return ending
    },
    get received() {
      return { pieces, bytes, inputTokens, outputTokens }
    },
  })
}

/** Joins surrogate pairs that a server splits between two events. */
function createJoiner(): { add(text: string): string; rest(): string } {
  let half = ''
  return {
    add(text) {
      if (text === '') return ''
      const whole = half + text
      if (whole.isWellFormed()) {
        half = ''
        return whole
      }
      half = /[\uD800-\uDBFF]$/.test(whole) ? whole.slice(-1) : ''
      return (half === '' ? whole : whole.slice(0, -1)).toWellFormed()
    },
    rest: () => half.toWellFormed(),
  }
}
