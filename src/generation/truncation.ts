import type { Delta, ReplyPart } from '../models/conversation.ts'
import type { ReplyChoice, RunLimits, StopReason, WholeReply } from '../models/model.ts'
import { logprobsWithin } from './logprobs.ts'

/** Consecutive deltas, none of them empty. */
export type Texts = readonly string[]

/** Bounds of a reply. Models keep them; some upstreams do not. */
type Bounds = Pick<RunLimits, 'maxOutputTokens' | 'stop'>

/**
 * The most characters that one token is taken to have, on average over a reply. Far more than in any language: a model that
 * keeps its bounds must never be truncated.
 */
const mostCharactersPerToken = 16

/** About what English has. */
const usualCharactersPerToken = 4

/** Keeps a stream within its bounds, whatever the model sends. */
export interface Truncation {
  /** Takes the next deltas and returns what may be sent of them. A possible beginning of a stop string is held back. */
  take(texts: Texts): Texts
  /** As `take`, for what is not text and cannot contain a stop string. */
  takeDeltas(deltas: readonly Delta[]): readonly Delta[]
  /** What is held back when the text has ended. */
  rest(): Texts
  /** Why the reply was truncated; undefined if it was not. The model should be stopped then. */
  readonly reason: StopReason | undefined
  /** Tokens of the reply, including those of the stop string: one for each delta, unless the deltas are too long for that. */
  readonly tokens: number
}

export function createTruncation({ maxOutputTokens, stop = [] }: Bounds): Truncation {
  const mostCharacters = maxOutputTokens * mostCharactersPerToken
  let reason: StopReason | undefined
  let tokens = 0
  let characters = 0
  let held = ''

  /** The part of the deltas within the token limit: usually all of them, without a copy. */
  function withinLimit(texts: Texts): Texts {
    let length = 0
    for (const text of texts) length += text.length
    if (tokens + texts.length <= maxOutputTokens && characters + length <= mostCharacters) {
      tokens += texts.length
      characters += length
      return texts
    }
    reason = 'max_output_tokens'
    const kept = texts.slice(0, maxOutputTokens - tokens).join('')
    tokens = maxOutputTokens
    return nonEmpty(kept.slice(0, mostCharacters - characters).toWellFormed())
  }

  function beforeStop(texts: Texts): Texts {
    const text = held + texts.join('')
    const match = firstStop(text, stop)
    if (match) {
      reason = 'stop_sequence'
      tokens -= deltasAfter(texts, match.end - held.length)
      characters -= text.length - match.end
      held = ''
      return nonEmpty(text.slice(0, match.start))
    }
    const ready = reason === undefined ? text.length - partialStop(text, stop) : text.length
    held = text.slice(ready)
    return nonEmpty(text.slice(0, ready))
  }

  return {
    take(texts) {
      if (reason !== undefined) return []
      const kept = withinLimit(texts)
      return stop.length === 0 ? kept : beforeStop(kept)
    },
    takeDeltas(deltas) {
      if (reason !== undefined) return []
      const room = maxOutputTokens - tokens
      const spent = deltas.filter((delta) => delta.kind !== 'call' || !delta.withoutTokens).length
      for (const delta of deltas) characters += charactersOf(delta)
      tokens += Math.min(room, spent)
      if (spent <= room && characters <= mostCharacters) return deltas
      reason = 'max_output_tokens'
      tokens = maxOutputTokens
      return deltas.slice(0, room)
    },
    rest() {
      const rest = nonEmpty(held)
      held = ''
      return rest
    },
    get reason() {
      return reason
    },
    get tokens() {
      if (characters <= tokens * mostCharactersPerToken) return tokens
      return Math.min(maxOutputTokens, Math.ceil(characters / usualCharactersPerToken))
    },
  }
}

/**
 * A whole reply within its bounds. The tokens that were cut off are not charged; those of the stop string are,
 * because a model that keeps its bounds reports them, too.
 */
export function truncate(reply: WholeReply, bounds: Bounds): WholeReply {
  return reply.others ? truncateChoices(reply, reply.others, bounds) : truncateChoice(reply, bounds)
}

/**
 * As `truncate`, each choice by itself. The upstream reports the tokens of all of them, of which each is taken to have its share. A choice
 * is too long only if all of them together are: their tokens need not have the same lengths.
 */
function truncateChoices(reply: WholeReply, others: readonly ReplyChoice[], bounds: Bounds): WholeReply {
  const { usage } = reply
  const choices = [{ ...reply, others: undefined }, ...others]
  const most = bounds.maxOutputTokens * choices.length
  const mostOfOne = usage.outputTokens > most ? Infinity : bounds.maxOutputTokens
  const total = choices.reduce((sum, choice) => sum + lengthOf(choice), 0)
  const kept = choices.map((choice) => {
    const share = total === 0 ? 0 : Math.ceil((usage.outputTokens * lengthOf(choice)) / total)
    const whole = { ...choice, usage: { ...usage, outputTokens: Math.min(share, mostOfOne) } }
    const cut = truncateChoice(whole, bounds)
    return { cut, isCut: cut !== whole }
  })
  if (!kept.some(({ isCut }) => isCut)) return reply
  const passed = kept.reduce((sum, { cut }) => sum + cut.usage.outputTokens, 0)
  const outputTokens = Math.min(usage.outputTokens, passed, most)
  const ofReasoning = usage.reasoningTokens !== undefined && {
    reasoningTokens: Math.min(usage.reasoningTokens, outputTokens),
  }
  const [first = reply, ...further] = kept.map(({ cut }) => cut)
  return {
    ...first,
    others: further.map(({ text, parts, logprobs, stopReason }) => ({ text, parts, logprobs, stopReason })),
    usage: { ...usage, ...ofReasoning, outputTokens, source: 'estimated' },
  }
}

const lengthOf = ({ text, parts }: ReplyChoice): number =>
  parts ? parts.reduce((sum, part) => sum + textOfPart(part).length, 0) : text.length

function truncateChoice(reply: WholeReply, bounds: Bounds): WholeReply {
  const kept = truncateText(reply, bounds)
  if (kept === reply || !reply.logprobs) return kept
  return { ...kept, logprobs: logprobsWithin(kept.text, reply.text, reply.logprobs) }
}

function truncateText(reply: WholeReply, bounds: Bounds): WholeReply {
  const { text, parts } = reply
  if (parts) return truncateParts(reply, parts, bounds)
  const { maxOutputTokens, stop = [] } = bounds
  const found = stop.length === 0 ? undefined : firstStop(text, stop)
  const most = mostOf(text.length, reply, maxOutputTokens)
  if (found === undefined && most >= text.length) return reply
  const match = found && found.start <= most ? found : undefined
  const kept = text.slice(0, match ? match.start : most).toWellFormed()
  return cutOff(reply, { kept: { text: kept }, length: text.length, stoppedAt: match?.end }, bounds)
}

/** As `truncateText`. A call that is beyond the bounds is left out, because a part of a call cannot be run. */
function truncateParts(reply: WholeReply, all: readonly ReplyPart[], bounds: Bounds): WholeReply {
  const total = lengthOf({ ...reply, parts: all })
  const most = mostOf(total, reply, bounds.maxOutputTokens)
  const parts: ReplyPart[] = []
  let length = 0
  for (const part of all) {
    const whole = textOfPart(part)
    const found = part.kind === 'text' ? firstStop(whole, bounds.stop ?? []) : undefined
    const match = found && length + found.start <= most ? found : undefined
    if (!match && length + whole.length <= most) {
      parts.push(part)
      length += whole.length
      continue
    }
    const text = whole.slice(0, match ? match.start : most - length).toWellFormed()
    // Reasoning without its end has no signature.
    if (part.kind !== 'call' && text !== '') parts.push({ kind: part.kind, text })
    const kept = { text: parts.map((each) => (each.kind === 'text' ? each.text : '')).join(''), parts }
    return cutOff(reply, { kept, length: total, stoppedAt: match && length + match.end }, bounds)
  }
  return reply
}

const textOfPart = (part: ReplyPart): string => (part.kind === 'call' ? part.input : part.text)

/** Where a reply was cut off. Positions are in characters. */
interface Cut {
  readonly kept: Pick<WholeReply, 'text' | 'parts'>
  /** The length of the reply before it was cut off. */
  readonly length: number
  /** The end of the stop string; undefined if the reply reached its limit. */
  readonly stoppedAt: number | undefined
}

function cutOff({ usage }: WholeReply, { kept, length, stoppedAt }: Cut, { maxOutputTokens }: Bounds): WholeReply {
  const share = stoppedAt === undefined ? maxOutputTokens : Math.ceil((usage.outputTokens * stoppedAt) / length)
  const outputTokens = Math.min(maxOutputTokens, share)
  const { reasoningTokens } = usage
  const ofReasoning = reasoningTokens !== undefined && { reasoningTokens: Math.min(reasoningTokens, outputTokens) }
  const stopReason = stoppedAt === undefined ? 'max_output_tokens' : 'stop_sequence'
  return { ...kept, stopReason, usage: { ...usage, ...ofReasoning, outputTokens, source: 'estimated' } }
}

/**
 * How many characters of a reply with this length are within the token limit. Only a reply that is too long is cut: a
 * report above the limit alone may count tokens that are not part of it, such as reasoning.
 */
function mostOf(length: number, { usage: { outputTokens, source } }: WholeReply, maxOutputTokens: number): number {
  if (outputTokens > maxOutputTokens) {
    const tokens = Math.min(outputTokens, Math.ceil(length / usualCharactersPerToken))
    return tokens > maxOutputTokens ? Math.ceil((length * maxOutputTokens) / tokens) : length
  }
  return source === 'estimated' ? maxOutputTokens * mostCharactersPerToken : length
}

/** A signature is not text of the model. */
function charactersOf(delta: Delta): number {
  if (delta.kind === 'reasoning') return delta.text.length
  return delta.kind === 'input' ? delta.json.length : 0
}

const nonEmpty = (text: string): Texts => (text === '' ? [] : [text])

/** The first stop string in a text, the shortest of several at the same place. */
function firstStop(
  text: string,
  stop: readonly string[],
): { readonly start: number; readonly end: number } | undefined {
  const matches = stop
    .map((each) => ({ start: text.indexOf(each), length: each.length }))
    .filter(({ start }) => start >= 0)
  const [first] = matches.toSorted((a, b) => a.start - b.start || a.length - b.length)
  return first && { start: first.start, end: first.start + first.length }
}

/** How many of the deltas begin at or after this position. */
function deltasAfter(texts: Texts, position: number): number {
  let start = 0
  let before = 0
  for (const text of texts) {
    if (start < position) before++
    start += text.length
  }
  return texts.length - before
}

/** How many of the last characters may be the beginning of a stop string. */
function partialStop(text: string, stop: readonly string[]): number {
  const lengths = stop.map((each) => {
    let length = Math.min(each.length - 1, text.length)
    while (length > 0 && !text.endsWith(each.slice(0, length))) length--
    return length
  })
  return Math.max(0, ...lengths)
}
