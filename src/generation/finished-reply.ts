import type { Delta, ReplyPart } from '../models/conversation.ts'
import type { ReplyCallIds } from '../models/call-ids.ts'
import type {
  ReplyChoice,
  ScoredText,
  StopReason,
  StreamEnd,
  StreamPart,
  Usage,
  Vector,
  WholeReply,
} from '../models/model.ts'
import { Problem } from '../platform/problems.ts'
import { createReplyContent, type ReplyContent } from './content.ts'
import { isCallInput } from './dialects/tools.ts'
import { createLogprobQueue, type LogprobQueue } from './logprobs.ts'
import type { Texts, Truncation } from './truncation.ts'

/** A reply that a model has finished and that is not charged yet: its text, its stop reason and its usage. */
export interface FinishedReply extends WholeReply {
  /** The error for the caller of a stream that broke off after its first text. */
  readonly problem?: Problem
  /** Embeddings instead of a text: one for each text. */
  readonly vectors?: readonly Vector[] | undefined
}

/** What a stream yields: texts, or pieces of anything else. */
export type StreamedPiece = (
  | { readonly kind: 'texts'; readonly texts: Texts }
  | ScoredText
  | { readonly kind: 'deltas'; readonly deltas: readonly Delta[] }
) & {
  /** As of `StreamPart`. */
  readonly choice?: number | undefined
}

interface ChoiceNeeds {
  readonly truncation: Truncation
  readonly callIds: ReplyCallIds
}

interface ReadingNeeds extends ChoiceNeeds {
  /** The same for the choices after the first. */
  readonly others?: readonly ChoiceNeeds[] | undefined
  /** Whether log probabilities were asked for. */
  readonly isScored?: boolean
  /** Stops the model. */
  readonly stop: AbortController
}

/** A choice while it is read. */
interface ReadChoice extends ChoiceNeeds {
  /** Undefined for the first. */
  readonly index: number | undefined
  readonly content: ReplyContent
  readonly gate: CallGate
  readonly logprobs: LogprobQueue | undefined
}

const choiceOf = ({ truncation, callIds }: ChoiceNeeds, isScored: boolean, index?: number): ReadChoice => ({
  truncation,
  callIds,
  index,
  content: createReplyContent(),
  gate: createCallGate(),
  logprobs: isScored ? createLogprobQueue() : undefined,
})

/**
 * Reads a stream to its end: yields its parts within `truncation`, and returns the finished reply. The caller has already received
 * those parts, so a stream that breaks off has a finished reply, too. Throws Problem
 * `upstream_failed` for a stream without an end, and otherwise as `checkFinished`.
 */
export async function* readStream(
  parts: AsyncIterable<StreamPart>,
  { others, isScored = false, stop, ...needs }: ReadingNeeds,
): AsyncGenerator<StreamedPiece, FinishedReply, void> {
  const first = choiceOf(needs, isScored)
  const further = others?.map((each, index) => choiceOf(each, isScored, index + 1))
  for await (const part of parts) {
    if (part.kind === 'end') {
      yield* restOf(first, part, part.stopReason)
      const ends =
        further?.map((choice, index) => ({ choice, stopReason: part.otherReasons?.[index] ?? part.stopReason })) ?? []
      for (const { choice, stopReason } of ends) yield* restOf(choice, part, stopReason)
      return finishedOf(first, ends, part, stop.signal)
    }
    const choice = part.choice ? further?.[part.choice - 1] : first
    if (!choice) continue
    const { truncation, content, gate, logprobs } = choice
    const texts = textsWithin(part, choice)
    const calls = texts.length > 0 ? gate.rest() : noDeltas
    if (calls.length > 0) {
      content.addDeltas(calls)
      yield ofChoice(choice, { kind: 'deltas', deltas: calls })
    }
    if (texts.length > 0) {
      content.addTexts(texts)
      yield ofChoice(choice, logprobs ? scored(texts.join(''), logprobs) : { kind: 'texts', texts })
    }
    if (part.kind === 'deltas') {
      const deltas = gate.take(truncation.takeDeltas(choice.callIds.inDeltas(part.deltas)))
      content.addDeltas(deltas)
      if (deltas.length > 0) yield ofChoice(choice, { kind: 'deltas', deltas })
    }
    if (truncation.reason !== undefined && isTruncated(first, further)) stop.abort()
  }
  throw new Problem('upstream_failed', 'The model stopped unexpectedly. Nothing was charged. Send the request again.')
}

/** Whether nothing that the model may still write is passed on. */
const isTruncated = (first: ReadChoice, further: readonly ReadChoice[] = []): boolean =>
  [first, ...further].every(({ truncation }) => truncation.reason !== undefined)

const ofChoice = ({ index }: ReadChoice, piece: StreamedPiece): StreamedPiece =>
  index === undefined ? piece : { ...piece, choice: index }

/** What was held back of a choice until it ended for this reason. */
function* restOf(choice: ReadChoice, end: StreamEnd, stopReason: StopReason): Generator<StreamedPiece> {
  const { truncation, content, gate, logprobs } = choice
  const texts = textsWithin(end, choice)
  const isComplete = stopReason === 'complete' && truncation.reason === undefined
  const calls = texts.length > 0 || isComplete ? gate.rest() : noDeltas
  if (calls.length > 0) {
    content.addDeltas(calls)
    yield ofChoice(choice, { kind: 'deltas', deltas: calls })
  }
  if (texts.length > 0) {
    content.addTexts(texts)
    yield ofChoice(choice, logprobs ? scored(texts.join(''), logprobs) : { kind: 'texts', texts })
  }
  const rest = truncation.reason === undefined ? logprobs?.rest() : undefined
  if (rest && rest.length > 0) yield ofChoice(choice, { kind: 'scored', text: '', logprobs: rest })
}

const noDeltas: readonly Delta[] = []

/** What may be passed on once this part has arrived. A character that has only begun ends nothing that is held back. */
function textsWithin(part: StreamPart, { truncation, logprobs }: ReadChoice): Texts {
  if (part.kind === 'texts') {
    if (logprobs) logprobs.add(part.texts.join(''), [])
    return truncation.take(part.texts)
  }
  if (part.kind !== 'scored') return truncation.rest()
  logprobs?.add(part.text, part.logprobs)
  return part.text === '' ? noTexts : truncation.take([part.text])
}

const noTexts: Texts = []

const scored = (text: string, logprobs: LogprobQueue): ScoredText => ({
  kind: 'scored',
  text,
  logprobs: logprobs.take(text),
})

/** A choice after the first, and why it ended. */
interface EndedChoice {
  readonly choice: ReadChoice
  readonly stopReason: StopReason
}

function finishedOf(
  first: ReadChoice,
  further: readonly EndedChoice[],
  end: StreamEnd,
  signal: AbortSignal,
): FinishedReply {
  const others = further.map(({ choice, stopReason }) => passedOf(choice, stopReason))
  const usage = usageOf([first, ...further.map(({ choice }) => choice)], end.usage)
  const reply = { ...passedOf(first, end.stopReason), usage }
  const finished = others.length === 0 ? reply : { ...reply, others, stopReason: reasonOfAll([reply, ...others]) }
  if (finished.stopReason === 'error' && !choicesOf(finished).every(isEmpty)) {
    return { ...finished, problem: brokenOff(end.problem) }
  }
  // The caller has received the call, so what was received is charged.
  if (hasBrokenCall(finished)) return { ...finished, stopReason: 'error', problem: brokenOff(brokenCall()) }
  return checkFinished(finished, signal)
}

/** What was passed on of a choice. */
function passedOf({ content, logprobs, truncation }: ReadChoice, ended: StopReason): ReplyChoice {
  const [parts, taken] = [content.parts(), logprobs?.taken]
  const stopReason = truncation.reason ?? ended
  return { text: content.text(), ...(parts && { parts }), ...(taken && { logprobs: taken }), stopReason }
}

/** The usage without what was cut off. */
function usageOf(choices: readonly ReadChoice[], usage: Usage): Usage {
  if (choices.every(({ truncation }) => truncation.reason === undefined)) return usage
  const passed = choices.reduce((sum, { truncation }) => sum + truncation.tokens, 0)
  // Where others went on to their end, it was reported.
  const most = choices.length > 1 && usage.source === 'upstream' ? usage.outputTokens : Infinity
  return { ...usage, outputTokens: Math.min(passed, most), source: 'estimated' }
}

/** That of the first, unless one of them broke off: then all of them did. */
const reasonOfAll = (choices: readonly [ReplyChoice, ...(readonly ReplyChoice[])]): StopReason =>
  (['error', 'cancelled'] as const).find((reason) => choices.some(({ stopReason }) => stopReason === reason)) ??
  choices[0].stopReason

const isEmpty = ({ text, parts }: ReplyChoice): boolean => text === '' && parts === undefined

/** All choices of a reply, the first included. */
export const choicesOf = (reply: ReplyChoice & Pick<WholeReply, 'others'>): readonly ReplyChoice[] =>
  reply.others ? [reply, ...reply.others] : [reply]

/** A reply whose choices are changed. */
function mapChoices<Reply extends WholeReply>(
  reply: Reply,
  change: <Each extends ReplyChoice>(choice: Each) => Each,
): Reply {
  const changed = change(reply)
  return changed.others ? { ...changed, others: changed.others.map((each) => change(each)) } : changed
}

/**
 * Returns a finished reply that can be charged. A `cancelled` one can if `signal` has aborted. Throws Problem `upstream_failed`
 * for one that failed or has a call that cannot be run, and `unavailable` if the model itself stopped.
 */
export function checkFinished(reply: WholeReply, signal: AbortSignal): FinishedReply {
  const finished = mapChoices(reply, withInputs)
  if (finished.stopReason === 'error') {
    throw new Problem('upstream_failed', 'The model failed. Nothing was charged. Send the request again.')
  }
  if (finished.stopReason === 'cancelled' && !signal.aborted) {
    throw new Problem('unavailable', 'The model stopped. Nothing was charged. Send the request again.', {
      retryAfter: 1,
    })
  }
  if (hasBrokenCall(finished)) throw brokenCall()
  return mapChoices(finished, withWholeCalls)
}

/**
 * A model may write nothing for a call without arguments. The last call of a reply that was cut off stays without them: it may have
 * been cut off just after the name of its tool.
 */
function withInputs<Each extends ReplyChoice>(reply: Each): Each {
  const { parts, stopReason } = reply
  if (!parts?.some(isWithoutInput)) return reply
  const last = stopReason === 'complete' ? undefined : parts.findLast(({ kind }) => kind === 'call')
  return {
    ...reply,
    parts: parts.map((part) => (isWithoutInput(part) && part !== last ? { ...part, input: '{}' } : part)),
  }
}

const isWithoutInput = (part: ReplyPart): boolean => part.kind === 'call' && part.input === ''

const hasBrokenCall = (reply: WholeReply): boolean =>
  choicesOf(reply).some(
    ({ stopReason, parts }) => stopReason === 'complete' && parts !== undefined && !parts.every(isWhole),
  )

/** A reply that was cut off may end within a call, which then cannot be run. */
function withWholeCalls<Each extends ReplyChoice>(reply: Each): Each {
  return reply.parts === undefined || reply.parts.every(isWhole)
    ? reply
    : { ...reply, parts: reply.parts.filter(isWhole) }
}

function isWhole(part: ReplyPart): boolean {
  if (part.kind !== 'call') return true
  try {
    return isCallInput(JSON.parse(part.input))
  } catch {
    return false
  }
}

const brokenCall = (): Problem =>
  new Problem(
    'upstream_failed',
    'The model called a tool with arguments that are not a JSON object. Nothing was charged. Send the request again.',
  )

/** The model's own problem may say that nothing was charged, and when to retry a request that has no reply yet. */
function brokenOff(problem?: Problem): Problem {
  const reason =
    'The reply was interrupted. The text received so far was charged. Send the request again for a new reply.'
  return new Problem(problem?.code ?? 'upstream_failed', reason, { cause: problem?.details.cause })
}

/** Decides which pieces of a stream's calls its caller may receive. */
interface CallGate {
  /** What may be passed on, once these have arrived. */
  take(deltas: readonly Delta[]): readonly Delta[]
  /** What was kept back, for when something else follows or the reply is complete. */
  rest(): readonly Delta[]
}

/**
 * Keeps the beginning of a call back until its arguments begin. Clients take a call without arguments for a whole one and run its
 * tool, whatever the reply's stop reason is, but a model that is cut off after a tool's name has not finished its call.
 */
function createCallGate(): CallGate {
  let begun: readonly Delta[] = []
  return {
    take(deltas) {
      if (begun.length === 0 && deltas.at(-1)?.kind !== 'call') return deltas
      const all = [...begun, ...deltas]
      const end = all.at(-1)?.kind === 'call' ? -1 : all.length
      begun = all.slice(end)
      return all.slice(0, end)
    },
    rest() {
      const rest = begun
      begun = []
      return rest
    },
  }
}
