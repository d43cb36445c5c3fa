import type { StopReason } from '../model.ts'
import { failureOf, readPart, type Sizes } from './ai-sdk-reply.ts'
import type { Deadline } from './deadline.ts'
import { Failure, unusable } from './failure.ts'
import type { ReplyPiece, ReplyStream } from './relay.ts'
import { nothingReceived, type Received } from './usage.ts'

/** Milliseconds to wait for the end of the response after its last part, so that the connection can be reused. */
const patience = 1000

/** Reads a reply that a provider package streams. The reply is complete only after its part `finish`. */
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

  async function read(): Promise<ReplyPiece | undefined> {
    try {
      while (ending === undefined) {
        const { done, value } = await reader.read()
        if (deadline.reason !== undefined) throw new Error('abandoned')
        if (done) throw unusable('a stream without its last part', true)
        const text = take(value)
        if (text !== '') return { kind: 'texts', texts: [text] }
      }
    } catch (error) {
      ending = endingOf(error)
      abandon()
    }
    return undefined
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
    if (deadline.reason === 'disconnected') return 'cancelled'
    const failure = deadline.reason ?? failureOf(error, origin, sizes)
    return generated ? new Failure(failure.problem, { repeatable: false }) : failure
  }

  async function drain(): Promise<void> {
    const timer = setTimeout(() => deadline.abort(), patience)
    try {
      while (!(await reader.read()).done);
    } catch {
      // The reply is complete, so an error after it does not matter.
    }
    clearTimeout(timer)
  }

  function abandon(): void {
    deadline.end()
    if (typeof ending === 'string' && ending !== 'cancelled') return
    deadline.abort()
    reader.cancel().catch(() => undefined)
  }

  return Object.freeze({
    read,
    abandon,
    get ending() {
      return ending
    },
    get received() {
      return received
    },
  })
}
