import { mostCostOf } from '../prices/price.ts'
import type { HoldRequest } from './till.ts'

/** The most that a request can cost, in 10⁻¹² of the currency unit. */
export function holdCostOf({ price, inputTokens, maxOutputTokens, fixedCost }: HoldRequest): bigint {
  const cost = mostCostOf(price, inputTokens, maxOutputTokens)
  return fixedCost === undefined ? cost : cost + fixedCost
}

/** An item of the parameter p_admit of `till()`. */
export interface HoldItem {
  readonly hold: string
  readonly account: string
  readonly requests: 0 | 1
  readonly [field: string]: unknown
}

/** An item of the parameter p_holds of `exchange_moving()`. */
export const holdItem = ({ payer, ...request }: HoldRequest) => ({
  hold: request.requestId,
  account: payer.accountId,
  key: payer.keyId,
  person: payer.personId,
  model: request.model,
  client: payer.clientId,
  input: request.inputTokens,
  output: request.maxOutputTokens,
  input_price: String(request.price.input),
  output_price: String(request.price.output),
  cached_price: request.price.cachedInput?.toString(),
  cache_write_price: request.price.cacheWrite?.toString(),
  tags: payer.tags,
  fixed: request.fixedCost?.toString(),
})

export const admissionItem = (request: HoldRequest, requests: 0 | 1): HoldItem => ({
  ...holdItem(request),
  idem: request.idempotency?.key,
  hash: request.idempotency?.hash,
  least: request.leastOutputTokens,
  requests,
})
