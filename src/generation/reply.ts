import { Compile } from 'typebox/compile'
import { formatMoney } from '../billing/money.ts'
import type { ChargedTokens, Levels, Replay, Settlement, StoredReply } from '../billing/till.ts'
import type { StopReason } from '../models/model.ts'
import type { Outcome } from './outcome.ts'
import { generateResponse } from './schema.ts'

/** A charged reply. A retry with the same idempotency key receives it again, byte for byte. */
export interface Reply {
  /** The id of its ledger row: of the request that it was generated for, also in a replay. */
  readonly id: string
  readonly model: string
  readonly text: string
  readonly stopReason: StopReason
  readonly usage: ChargedTokens
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
export function settledReply(id: string, model: string, outcome: Outcome, settlement: Settlement): Reply {
  const { text, stopReason } = outcome
  const { inputTokens, outputTokens, cost, levels } = settlement
  const usage = { inputTokens, outputTokens }
  const body = bodyOf(outcome, usage)
  return { id, model, text, stopReason, usage, cost: formatMoney(cost), body, levels, replayed: false }
}

/** What is stored of a reply, with the usage that the model reported: what is charged is not known yet. */
export function storedReplyOf(model: string, outcome: Outcome): StoredReply {
  return { headers: { [modelHeader]: model }, body: bodyOf(outcome, outcome.usage) }
}

function bodyOf(
  { text, stopReason }: Pick<Reply, 'text' | 'stopReason'>,
  { inputTokens, outputTokens }: ChargedTokens,
): string {
  return JSON.stringify({
    output_text: text,
    stop_reason: stopReason,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
  })
}

const storedBody = Compile(generateResponse)

/**
 * The stored reply of an earlier request, with the usage that its caller received: what the ledger says. `model` is for one
 * that was stored without its model.
 */
export function replayedReply({ originalRequestId, headers, body, charged, levels }: Replay, model: string): Reply {
  const { output_text: text, stop_reason: stopReason, usage: reported } = storedBody.Parse(JSON.parse(body))
  const usage = charged ?? { inputTokens: reported.input_tokens, outputTokens: reported.output_tokens }
  return {
    id: originalRequestId,
    model: headers[modelHeader] ?? model,
    text,
    stopReason,
    usage,
    cost: undefined,
    body: bodyOf({ text, stopReason }, usage),
    levels,
    replayed: true,
  }
}

/** The headers that describe a reply, besides the levels. */
export function replyHeaders({ id, model, cost }: Reply): Record<string, string> {
  const common = { [modelHeader]: model, 'x-generation-id': id }
  return cost === undefined
    ? { ...common, 'idempotent-replayed': 'true', 'x-original-request-id': id }
    : { ...common, 'x-cost': cost }
}
