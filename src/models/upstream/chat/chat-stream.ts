import type { ReplyPart } from '../../conversation.ts'
import type { ReplyChoice, StopReason } from '../../model.ts'
import { readCompletion } from './chat-completions.ts'
import { createDeltaReader, type CallFragment, type ChoiceDelta } from './chat-deltas.ts'
import { countsOf, laterUsage, type ChatUsage } from './chat-usage.ts'
import { createEventReader } from '../pool/event-reader.ts'
import { choicesMissing, Failure, unusable } from '../failure.ts'
import { stopReasonFor, type FinishedRun } from './finish-reasons.ts'
import { createJoiner, type Joiner } from '../joiner.ts'
import { createPieceQueue } from '../piece-queue.ts'
import type { Reception } from '../pool/reception.ts'
import type { ReplyPiece, ReplyStream } from '../relay.ts'
import { createReplyOrder, type OrderedPiece, type ReplyOrder } from './reply-order.ts'
import { bytesOfReply, type ReceivedReply, type UpstreamReply } from '../usage.ts'

/** What is read of a response. */
type Source = Pick<Reception, 'read' | 'finish' | 'abandon'>

/**
 * Reads a streamed chat completion. The reply is complete only after the event `[DONE]`: a stream that ends without it has failed, and
 * so has one with neither content nor a finish reason. A whole reply is read as well: some gateways send one for models that cannot stream.
 */
export function createChatStream(reception: Source, run: FinishedRun): ReplyStream {
  const events = createEventReader(take)
  const readDelta = createDeltaReader(run)
  const ready = createPieceQueue()
  const first = createChoiceStream(ready.push)
  const others =
    run.limits.choices === undefined
      ? undefined
      : Array.from({ length: run.limits.choices - 1 }, (_, index) =>
          createChoiceStream((piece) => ready.push(piece, index + 1)),
        )
  let [pieces, bytes] = [0, 0]
  let usage: ChatUsage | undefined
  let ending: StopReason | Failure | undefined
  let hasEnded = false
  /** The bytes of a whole reply. Undefined before the first byte but white space; null for a stream. */
  let whole: Buffer[] | null | undefined
  let receivedWhole: ReceivedReply | undefined

  async function read(): Promise<ReplyPiece | undefined> {
    while (ready.isEmpty && ending === undefined) await readOn()
    if (ending instanceof Failure && pieces > 0) {
      ending = new Failure(ending.problem, { repeatable: false, health: ending.health })
    }
    if (ending !== undefined && ready.isEmpty) reception.abandon()
    return ready.next()
  }

  async function readOn(): Promise<void> {
    try {
      const chunk = await reception.read()
      if (chunk === 'abandoned') ending = 'cancelled'
      else if (chunk === 'end') {
        hasEnded = true
        if (whole) return takeWhole(readCompletion(Buffer.concat(whole), run))
        events.end()
        ending ??= unusable('a stream without its last event', true)
      } else {
        takeBytes(whole === undefined ? withoutLeadingSpace(chunk) : chunk)
      }
    } catch (error) {
      ending = error instanceof Failure ? error : unusable('an event that cannot be read')
    }
  }

  function takeBytes(chunk: Buffer): void {
    const [begun] = chunk
    if (begun === undefined) return
    // No line of an event stream begins like an object.
    if (whole === undefined) whole = begun === openBrace ? [] : null
    if (whole) whole.push(chunk)
    else events.push(chunk)
  }

  function take(data: string): void {
    if (ending !== undefined || data === '') return
    if (data === '[DONE]') return finish()
    // An event that the end of the stream cuts off is ignored. Only `[DONE]` may lack its blank line.
    if (hasEnded) return
    const delta = readDelta(data)
    // Servers that report usage on every event report the total each time.
    if (delta.usage) usage = laterUsage(usage, delta.usage)
    takeOf(first, delta)
    if (!delta.others || !others) return
    for (const [index, other] of delta.others) {
      const choice = others[index - 1]
      if (choice) takeOf(choice, other)
    }
  }

  function takeOf(choice: ChoiceStream, delta: ChoiceDelta): void {
    if (delta.text !== '' || delta.reasoning !== '' || delta.calls) note(delta)
    choice.take(delta)
  }

  function finish(): void {
    first.finish(run)
    others?.forEach((choice) => choice.finish(run))
    ending = first.stopReason ?? unusable('a stream without content')
    if (others && isPartly([first, ...others])) ending = choicesMissing()
    reception.finish()
  }

  function takeWhole(reply: UpstreamReply): void {
    first.takeWhole(reply)
    reply.others?.forEach((each, index) => others?.[index]?.takeWhole(each))
    receivedWhole = { counts: reply.counts, pieces: undefined, bytes: bytesOfReply(reply) }
    ending = reply.stopReason
  }

  function note({ text, reasoning, calls = [] }: ChoiceDelta): void {
    pieces += 1
    bytes += Buffer.byteLength(text)
    if (reasoning !== '') bytes += Buffer.byteLength(reasoning)
    for (const call of calls) bytes += bytesOf(call)
  }

  return Object.freeze({
    read,
    abandon: reception.abandon,
    get ending() {
      return ending
    },
    get otherReasons() {
      return others?.map(({ stopReason }) => stopReason)
    },
    get received() {
      return receivedWhole ?? { counts: countsOf(usage), pieces, bytes }
    },
  })
}

/** Whether some of these choices were sent and others were not. */
function isPartly(choices: readonly ChoiceStream[]): boolean {
  const sent = choices.filter(({ stopReason }) => stopReason !== undefined)
  return sent.length > 0 && sent.length < choices.length
}

/** A choice of a stream. */
interface ChoiceStream {
  take(delta: ChoiceDelta): void
  takeWhole(choice: ReplyChoice): void
  finish(run: FinishedRun): void
  /** Undefined before the end, and at the end of a choice that was not sent. */
  readonly stopReason: StopReason | undefined
}

function createChoiceStream(push: (piece: OrderedPiece) => void): ChoiceStream {
  const texts = createJoiner()
  // Most streams have neither, and all of them stay in memory for a while.
  let joiner: Joiner | undefined
  let order: ReplyOrder | undefined
  let stopReason: StopReason | undefined
  let isBegun = false

  /** Until the first call, pieces are in order. */
  function pass(piece: OrderedPiece): void {
    if (order) order.add(piece)
    else push(piece)
  }

  function takeReasoning({ reasoning, signatures = [] }: ChoiceDelta): void {
    joiner ??= createJoiner()
    const text = joiner.add(reasoning)
    if (text !== '') pass({ kind: 'reasoning', text })
    for (const { text: _, ...signature } of signatures) pass({ kind: 'signature', ...signature })
  }

  return {
    take(delta) {
      stopReason = delta.stopReason ?? stopReason
      if (delta.text !== '' || delta.reasoning !== '' || delta.calls) isBegun = true
      if (delta.reasoning !== '' || delta.signatures) takeReasoning(delta)
      const text = texts.add(delta.text)
      if (delta.logprobs) pass({ kind: 'scored', text, logprobs: delta.logprobs })
      else if (text !== '') pass(text)
      if (!delta.calls) return
      order ??= createReplyOrder(push)
      delta.calls.forEach(order.addFragment)
    },
    takeWhole({ text, parts = [{ kind: 'text', text }], logprobs, stopReason: reason }) {
      stopReason = reason
      // With its first text: where there are several, they follow with the next ones.
      let rest = logprobs
      for (const piece of parts.flatMap(piecesOf)) {
        if (typeof piece !== 'string' || !rest) push(piece)
        else push({ kind: 'scored', text: piece, logprobs: rest })
        if (typeof piece === 'string') rest = undefined
      }
      if (rest) push({ kind: 'scored', text: '', logprobs: rest })
    },
    finish(run) {
      const rest = texts.rest()
      if (rest !== '') pass(rest)
      order?.end()
      if (isBegun) stopReason ??= stopReasonFor('', run)
    },
    get stopReason() {
      return stopReason
    },
  }
}

const bytesOf = ({ tool, json }: CallFragment): number => Buffer.byteLength(tool) + Buffer.byteLength(json)

const openBrace = 0x7b

/** Space, tab and line ends. Some gateways send them while the model works. */
const space: readonly number[] = [0x20, 0x09, 0x0a, 0x0d]

function withoutLeadingSpace(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => !space.includes(byte))
  return first === -1 ? bytes.subarray(bytes.length) : bytes.subarray(first)
}

function piecesOf(part: ReplyPart): readonly OrderedPiece[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [part.text]
    case 'reasoning': {
      const { text, signature, redacted } = part
      return [
        ...(text === '' ? [] : [{ kind: 'reasoning', text } as const]),
        ...(signature === undefined ? [] : [{ kind: 'signature', signature, redacted } as const]),
      ]
    }
    case 'call': {
      const { id, tool, input } = part
      return [{ kind: 'call', id, tool }, ...(input === '' ? [] : [{ kind: 'input', json: input } as const])]
    }
  }
}
