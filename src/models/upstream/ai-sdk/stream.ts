import type { StopReason } from '../../model.ts'
import {
  failureOf,
  readPart,
  reasoningBreak,
  withSearches,
  type AiSdkPart,
  type FinishedCall,
  type Sizes,
} from './reply.ts'
import type { CallFragment } from '../chat/chat-deltas.ts'
import type { Deadline } from '../pool/deadline.ts'
import { Failure, unusable } from '../failure.ts'
import type { FinishedRun } from '../chat/finish-reasons.ts'
import { createPieceQueue } from '../piece-queue.ts'
import type { ReplyPiece, ReplyStream } from '../relay.ts'
import { createReplyOrder } from '../chat/reply-order.ts'
import { nothingReceived, type ReceivedReply } from '../usage.ts'

/** Milliseconds to wait for the end of the response after its last part, so that the connection can be reused. */
const patience = 1000

/** Reads a reply that a provider package streams. The reply is complete only after its part `finish`. */
export function createAiSdkStream(
  parts: ReadableStream<unknown>,
  deadline: Deadline,
  origin: string,
  sizes: Sizes,
  run: FinishedRun,
): ReplyStream {
  const reader = parts.getReader()
  const ready = createPieceQueue()
  const order = createReplyOrder(ready.push)
  /** Calls whose pieces have come. */
  const begun = new Set<string>()
  let lastSignature: string | undefined
  /** Whether the last piece is reasoning without a signature. */
  let isReasoning = false
  let received: ReceivedReply = nothingReceived
  let ending: StopReason | Failure | undefined
  let generated = false
  let searches = 0

  async function read(): Promise<ReplyPiece | undefined> {
    while (ending === undefined && ready.isEmpty) await readOn()
    return ready.next()
  }

  async function readOn(): Promise<void> {
    try {
      const { done, value } = await reader.read()
      if (deadline.reason !== undefined) throw new Error('abandoned')
      if (done) throw unusable('a stream without its last part', true)
      take(readPart(value, origin, run, generated))
    } catch (error) {
      ending = endingOf(error)
      abandon()
    }
  }

  function take(part: AiSdkPart): void {
    switch (part.kind) {
      case 'text':
        if (part.text !== '') takeText(part.text)
        return
      case 'reasoning':
        return takeReasoning(part)
      case 'input':
        begun.add(part.fragment.id)
        return takeFragment(part.fragment)
      case 'call':
        return begun.has(part.fragment.id) ? undefined : takeFragment(withoutInventedInput(part.fragment))
      case 'finish':
        return finish(part.finished)
      case 'search':
        searches += 1
        return
      case 'other':
    }
  }

  function takeText(text: string): void {
    note(text)
    isReasoning = false
    order.add(text)
  }

  function takeReasoning({ begins, text, signature }: Extract<AiSdkPart, { kind: 'reasoning' }>): void {
    if (begins && isReasoning) order.add({ kind: 'reasoning', text: reasoningBreak })
    if (text !== '') {
      note(text)
      order.add({ kind: 'reasoning', text })
      isReasoning = true
    }
    // OpenAI's package repeats it with each part of a summary.
    if (!signature || signature.signature === lastSignature) return
    lastSignature = signature.signature
    isReasoning = false
    order.add({ kind: 'signature', ...signature })
  }

  function takeFragment(fragment: CallFragment): void {
    const text = fragment.tool + fragment.json
    if (text !== '') note(text)
    isReasoning = false
    order.addFragment(fragment)
  }

  function finish(finished: FinishedCall): void {
    const { stopReason, counts } = withSearches(finished, searches)
    order.end()
    received = { ...received, counts }
    ending = stopReason
    deadline.end()
    void drain()
  }

  function note(text: string): void {
    generated = true
    received = { ...received, pieces: (received.pieces ?? 0) + 1, bytes: received.bytes + Buffer.byteLength(text) }
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

/** A package writes `{}` for the input of a call that was cut off before it. Without any, a call of a complete reply has the same. */
const withoutInventedInput = (fragment: CallFragment): CallFragment =>
  fragment.json === '{}' ? { ...fragment, json: '' } : fragment
