import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { formatMoney } from '../billing/prices/money.ts'
import {
  promptTokensOf,
  type ChargedTokens,
  type Levels,
  type Replay,
  type Settlement,
  type StoredReply,
} from '../billing/till/till.ts'
import type { ReplyPart, TokenLogprob } from '../models/conversation.ts'
import type { ReplyChoice, StopReason, Usage, Vector } from '../models/model.ts'
import type { FinishedReply } from './finished-reply.ts'
import { generateResponse } from './schema.ts'

const storedReasoning = {
  text: Type.String(),
  signature: Type.Optional(Type.String()),
  redacted: Type.Optional(Type.Literal(true)),
}

/** A part of a reply as it is stored for a replay. */
const storedPart = Type.Union([
  Type.Object({ kind: Type.Literal('text'), text: Type.String() }),
  Type.Object({ kind: Type.Literal('reasoning'), ...storedReasoning }),
  // As earlier versions stored it.
  Type.Object({ kind: Type.Literal('thinking'), ...storedReasoning }),
  Type.Object({ kind: Type.Literal('call'), id: Type.String(), tool: Type.String(), input: Type.String() }),
])

const storedLogprob = {
  token: Type.String(),
  logprob: Type.Number(),
  bytes: Type.Union([Type.Array(Type.Integer()), Type.Null()]),
}
const storedLogprobs = Type.Array(Type.Object({ ...storedLogprob, top: Type.Array(Type.Object(storedLogprob)) }))

/** A choice after the first. */
const storedChoice = Type.Object({
  output_text: Type.String(),
  stop_reason: generateResponse.properties.stop_reason,
  parts: Type.Optional(Type.Array(storedPart)),
  logprobs: Type.Optional(storedLogprobs),
})

/** A charged reply. A retry with the same idempotency key receives it again, byte for byte. */
export interface Reply {
  /** The id of its ledger row: of the request that it was generated for, also in a replay. */
  readonly id: string
  readonly model: string
  readonly text: string
  /** All of it in its order, its text included, if there is anything but text. */
  readonly parts: readonly ReplyPart[] | undefined
  /** Those of its text, if they were asked for and the model returned any. */
  readonly logprobs?: readonly TokenLogprob[] | undefined
  readonly stopReason: StopReason
  /** The choices after the first, if several were asked for. */
  readonly others?: readonly ReplyChoice[] | undefined
  readonly usage: ChargedTokens
  /** Those of the output tokens that were spent on reasoning; undefined where the model does not report them. */
  readonly reasoningTokens: number | undefined
  /** Of embeddings: one for each text. */
  readonly vectors?: readonly Vector[] | undefined
  /** A decimal in the account's currency. Undefined in a replay, which costs nothing. */
  readonly cost: string | undefined
  /** The body of section 2.2 of the specification. */
  readonly body: string
  /** The levels after it was charged. */
  readonly levels: Levels
  readonly replayed: boolean
}

const modelHeader = 'x-model'

/** The reply of a request that was settled: its usage is what the ledger says. */
export function settledReply(id: string, model: string, finished: FinishedReply, settlement: Settlement): Reply {
  const { text, parts, stopReason } = finished
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, cost, levels } = settlement
  const usage = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens }
  return {
    id,
    model,
    text,
    parts,
    logprobs: finished.logprobs,
    stopReason,
    others: finished.others,
    usage,
    reasoningTokens: finished.usage.reasoningTokens,
    vectors: finished.vectors,
    cost: formatMoney(cost),
    body: bodyOf(finished, usage),
    levels,
    replayed: false,
  }
}

/** The tokens of a run by kind. */
export const chargedTokensOf = (usage: Usage): ChargedTokens => ({
  inputTokens: usage.inputTokens,
  outputTokens: usage.outputTokens,
  cachedTokens: usage.cachedTokens ?? 0,
  cacheWriteTokens: usage.cacheWriteTokens ?? 0,
})

/** What is stored of a reply, with the usage that the model reported: what is charged is not known yet. */
export function storedReplyOf(model: string, finished: FinishedReply): StoredReply {
  const { parts, logprobs, others, usage, vectors } = finished
  const { reasoningTokens: reasoning_tokens, cachedTokens, cacheWriteTokens } = usage
  const kinds = { cached_tokens: cachedTokens || undefined, cache_write_tokens: cacheWriteTokens || undefined }
  const rest = {
    parts,
    logprobs,
    others: others?.map(storedChoiceOf),
    reasoning_tokens,
    ...kinds,
    vectors: vectors?.map(plainVector),
  }
  return { headers: { [modelHeader]: model }, body: bodyOf(finished, chargedTokensOf(usage), rest) }
}

const storedChoiceOf = ({ text, parts, logprobs, stopReason }: ReplyChoice) => ({
  output_text: text,
  stop_reason: stopReason,
  parts,
  logprobs,
})

/** JSON would write a typed array as an object. */
const plainVector = (vector: Vector): Vector => (vector instanceof Float32Array ? [...vector] : vector)

function bodyOf(
  { text, stopReason }: Pick<Reply, 'text' | 'stopReason'>,
  usage: ChargedTokens,
  /** What is stored besides the body of the specification. */
  rest?: object,
): string {
  return JSON.stringify({
    output_text: text,
    stop_reason: stopReason,
    usage: { input_tokens: promptTokensOf(usage), output_tokens: usage.outputTokens },
    ...rest,
  })
}

const storedBody = Compile(
  Type.Object({
    ...generateResponse.properties,
    parts: Type.Optional(Type.Array(storedPart)),
    logprobs: Type.Optional(storedLogprobs),
    others: Type.Optional(Type.Array(storedChoice)),
    reasoning_tokens: Type.Optional(Type.Integer()),
    cached_tokens: Type.Optional(Type.Integer()),
    cache_write_tokens: Type.Optional(Type.Integer()),
    vectors: Type.Optional(Type.Array(Type.Union([Type.String(), Type.Array(Type.Number())]))),
  }),
)

/**
 * The stored reply of an earlier request, with the usage that its caller received: what the ledger says. `model` is for one
 * that was stored without its model.
 */
export function replayedReply({ originalRequestId, headers, body, charged, levels }: Replay, model: string): Reply {
  const stored = storedBody.Parse(JSON.parse(body))
  const { output_text: text, stop_reason: stopReason, usage: reported } = stored
  const { cached_tokens: cachedTokens = 0, cache_write_tokens: cacheWriteTokens = 0 } = stored
  const inputTokens = reported.input_tokens - cachedTokens - cacheWriteTokens
  const usage = charged ?? { inputTokens, outputTokens: reported.output_tokens, cachedTokens, cacheWriteTokens }
  return {
    id: originalRequestId,
    model: headers[modelHeader] ?? model,
    text,
    parts: partsIn(stored),
    logprobs: stored.logprobs,
    stopReason,
    others: stored.others?.map((other) => ({
      text: other.output_text,
      parts: partsIn(other),
      logprobs: other.logprobs,
      stopReason: other.stop_reason,
    })),
    usage,
    reasoningTokens: stored.reasoning_tokens,
    vectors: stored.vectors,
    cost: undefined,
    body: bodyOf({ text, stopReason }, usage),
    levels,
    replayed: true,
  }
}

const partsIn = ({
  parts,
}: {
  readonly parts?: readonly Static<typeof storedPart>[]
}): readonly ReplyPart[] | undefined =>
  parts?.map((part) => (part.kind === 'thinking' ? { ...part, kind: 'reasoning' as const } : part))

/** The headers that describe a reply, besides the levels. */
export function replyHeaders({ id, model, cost }: Reply): Record<string, string> {
  const common = { [modelHeader]: model, 'x-generation-id': id }
  return cost === undefined
    ? { ...common, 'idempotent-replayed': 'true', 'x-original-request-id': id }
    : { ...common, 'x-cost': cost }
}
