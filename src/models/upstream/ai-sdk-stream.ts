import type { StopReason } from '../model.ts'
import { failureOf, readPart, type Sizes } from './ai-sdk-reply.ts'
import type { Deadline } from './deadline.ts'
import { Failure, unusable } from './failure.ts'
import type { ReplyStream } from './relay.ts'
import { nothingReceived, type Received } from './usage.ts'

/** Milliseconds that an upstream gets to end an answer whose last part has come; its connection is then kept. */
const patience = 1000

/** A reply as a provider package streams it. It is complete only after its part `finish`. */
export function createAiSdkStream(
  parts: ReadableStream<unknown>,
  deadline: Deadline,
  origin: string,
  sizes: Sizes,
): ReplyStream {
  const reader = parts.getReader()
  let received: Received = nothingReceived
  let ending: StopReason | Failure | undefined
  let generated = false

  async function read(): Promise<readonly string[]> {
    try {
      while (ending === undefined) {
        const { done, value } = await reader.read()
        if (deadline.reason !== undefined) throw new Error('given up')
        if (done) throw unusable('a stream without its last part', true)
        const text = take(value)
        if (text !== '') return [text]
      }
    } catch (error) {
      ending = endingOf(error)
      leave()
    }
    return []
  }

  function take(value: unknown): string {
    const part = readPart(value, origin)
    if (part.kind === 'other') return ''
    if (part.kind === 'finish') {
      received = { ...received, inputTokens: part.inputTokens, outputTokens: part.outputTokens }
      ending = part.stopReason
      deadline.end()
      void drain()
      return ''
    }
    deadline.begun()
    generated = true
    const text = part.kind === 'text' ? part.text : ''
    received = { ...received, pieces: (received.pieces ?? 0) + 1, bytes: received.bytes + Buffer.byteLength(text) }
    return text
  }

  function endingOf(error: unknown): StopReason | Failure {
    if (deadline.reason === 'left') return 'cancelled'
    const failure = deadline.reason ?? failureOf(error, origin, sizes)
    return generated ? new Failure(failure.problem, { repeatable: false }) : failure
  }

  async function drain(): Promise<void> {
    const timer = setTimeout(() => deadline.abort(), patience)
    try {
      while (!(await reader.read()).done);
    } catch {
      // The reply has been read: what becomes of the rest of its answer is nobody's concern.
    }
    clearTimeout(timer)
  }

  function leave(): void {
    deadline.end()
    if (typeof ending === 'string' && ending !== 'cancelled') return
    deadline.abort()
    reader.cancel().catch(() => undefined)
  }

  return Object.freeze({
    read,
    leave,
    get ending() {
      return ending
    },
    get received() {
      return received
    },
  })
}
