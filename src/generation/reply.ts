import { Compile } from 'typebox/compile'
import { formatMoney } from '../billing/money.ts'
import type { Levels, StoredReply } from '../billing/till.ts'
import type { StopReason } from '../models/model.ts'
import type { Outcome } from './outcome.ts'
import { generateResponse } from './schema.ts'

/** An answer that is paid for. A repeated request gets the same one again, to the byte. */
export interface Reply extends StoredReply {
  /** Its own id: that of its ledger row. A repeated request has another id of its own. */
  readonly id: string
  readonly model: string
  readonly text: string
  readonly stopReason: StopReason
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number }
  /** How the limits stand after it. */
  readonly levels: Levels
  /** Whether this is a stored answer, which is not charged again. */
  readonly replayed: boolean
}

const idHeader = 'x-generation-id'
const modelHeader = 'x-model'

/** The reply that an outcome is. `cost` is in 10⁻¹² of the currency unit. Its body is that of section 2.2. */
export function madeReply(id: string, model: string, outcome: Outcome, cost: bigint): Omit<Reply, 'levels'> {
  const { text, stopReason, usage } = outcome
  const { inputTokens, outputTokens } = usage
  const body = JSON.stringify({
    output_text: text,
    stop_reason: stopReason,
    usage: { input_tokens: inputTokens, output_tokens: outputTokens },
  })
  const headers = { [modelHeader]: model, 'x-cost': formatMoney(cost), [idHeader]: id }
  return { id, model, text, stopReason, usage: { inputTokens, outputTokens }, headers, body, replayed: false }
}

const stored = Compile(generateResponse)

/** The reply that a stored answer is; `id` and `model` are for an answer that does not tell its own. */
export function replayedReply(answer: StoredReply & { readonly levels: Levels }, id: string, model: string): Reply {
  const { headers, body, levels } = answer
  const { output_text: text, stop_reason: stopReason, usage } = stored.Parse(JSON.parse(body))
  return {
    id: headers[idHeader] ?? id,
    model: headers[modelHeader] ?? model,
    text,
    stopReason,
    usage: { inputTokens: usage.input_tokens, outputTokens: usage.output_tokens },
    headers,
    body,
    levels,
    replayed: true,
  }
}
