import type { Payer } from '../billing/payer.ts'
import type { Prompt, RunLimits } from '../models/model.ts'

/** A request for text, independent of its dialect. */
export interface TextRequest {
  /** An id or an alias. */
  readonly model: string
  readonly prompt: Prompt
  readonly stream: boolean
  /** Undefined where the dialect makes it optional: then as much as the model allows. */
  readonly maxOutputTokens: number | undefined
  readonly temperature?: number | undefined
  readonly topP?: number | undefined
  readonly seed?: number | undefined
  readonly stop?: readonly string[] | undefined
  /** The client record that the cost is to be attributed to. Not checked yet. */
  readonly clientId?: string | undefined
  /** The dialect's names of these fields, for errors. */
  readonly names: { readonly maxOutputTokens: string; readonly input: string }
}

/** One generation request: what to generate, who pays for it, and when to stop. */
export interface Job {
  /** A UUID: the id of the hold and of the ledger row. */
  readonly requestId: string
  readonly request: TextRequest
  readonly payer: Payer
  /** Ids and aliases of the models that the payer may use; null: every model. */
  readonly allowedModels: readonly string[] | null
  /** When the request began, a time of `performance.now()`. Default: when the job begins. */
  readonly startedAt?: number | undefined
  /** Aborts when the caller disconnects. */
  readonly signal: AbortSignal
  /** `hash` identifies the body, to tell a retry from another request with the same key. */
  readonly idempotency?: { readonly key: string; readonly hash: string } | undefined
}

/** The bounds and sampling parameters of the run of a job. */
export function limitsOf({ requestId, request, payer }: Job, maxOutputTokens: number): RunLimits {
  const { temperature, topP, seed, stop } = request
  return { maxOutputTokens, account: payer.accountId, requestId, temperature, topP, seed, stop }
}
