import type { RunLimits, StopReason } from '../model.ts'
import { readDelta } from './chat-completions.ts'
import { createEventStream } from './event-stream.ts'
import { Failure, unusable } from './failure.ts'
import type { Reception } from './reception.ts'
import type { ReplyStream } from './relay.ts'
import { nothingReceived, type Received } from './usage.ts'

/**
 * A chat completion as it comes. It is complete, or whatever reason it gave, only after its last event, `[DONE]`: what
 * ends without it, or without a reason, has failed.
 */
export function createChatStream(reception: Reception, asked: RunLimits): ReplyStream {
  const events = createEventStream()
  const texts = createJoiner()
  let received: Received = nothingReceived
  let stopReason: StopReason | undefined
  let ending: StopReason | Failure | undefined
  let generated = false

  async function read(): Promise<readonly string[]> {
    const ready: string[] = []
    try {
      while (ready.length === 0 && ending === undefined) {
        const bytes = await reception.read()
        if (bytes === 'left') ending = 'cancelled'
        // Half an event is no event; the last one may lack its blank line.
        else if (bytes === 'end')
          take(
            events.end().filter((data) => data === '[DONE]'),
            ready,
          )
        else take(events.push(bytes), ready)
        if (bytes === 'end') ending ??= unusable('a stream without its last event', true)
      }
    } catch (error) {
      ending = error instanceof Failure ? error : unusable('an event that cannot be read')
    }
    if (ending instanceof Failure && generated) ending = new Failure(ending.problem, { repeatable: false })
    if (ending !== undefined && ready.length === 0) reception.leave()
    return ready
  }

  function take(all: readonly string[], ready: string[]): void {
    for (const data of all) {
      if (data === '[DONE]') {
        ending = stopReason ?? unusable('a stream that does not say why it ended')
        const rest = texts.rest()
        if (rest !== '') ready.push(rest)
        reception.finish()
        return
      }
      const delta = readDelta(data, asked)
      if (delta.generated) note(delta.text)
      // Set, not added: some say it once, some on every event, each time for the whole reply.
      const { inputTokens = received.inputTokens, outputTokens = received.outputTokens } = delta
      received = { ...received, inputTokens, outputTokens }
      stopReason = delta.stopReason ?? stopReason
      const text = texts.add(delta.text)
      if (text !== '') ready.push(text)
    }
  }

  function note(text: string): void {
    if (!generated) reception.begun()
    generated = true
    received = { ...received, pieces: (received.pieces ?? 0) + 1, bytes: received.bytes + Buffer.byteLength(text) }
  }

  return Object.freeze({
    read,
    leave: reception.leave,
    get ending() {
      return ending
    },
    get received() {
      return received
    },
  })
}

/** Puts the halves of a character together that one server may send in two events. */
function createJoiner(): { add(text: string): string; rest(): string } {
  let half = ''
  return {
    add(text) {
      if (text === '') return ''
      const whole = half + text
      half = /[\uD800-\uDBFF]$/.test(whole) ? whole.slice(-1) : ''
      return (half === '' ? whole : whole.slice(0, -1)).toWellFormed()
    },
    rest: () => half.toWellFormed(),
  }
}
